import { Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useSession } from "../dashboard/session.ts";
import { Waiting } from "../frame/waiting.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { texts } from "../texts/texts.ts";
import { ContactDays } from "./contact-days.tsx";
import { Members } from "./members.tsx";
import { Password } from "./password.tsx";
import { Plan } from "./plan.tsx";
import { accountQuery, factorsQuery, membersQuery, sessionsQuery } from "./queries.ts";
import { RenameShop } from "./rename.tsx";
import { SecondFactors } from "./second-factors.tsx";
import { Sessions } from "./sessions.tsx";
import { ShopCurrency } from "./shop-currency.tsx";

/** `/dashboard/account`: the plan, the members, and the member's own password and sessions. */
export function AccountPage(): ReactNode {
  const { account, isOwner } = useSession();
  return (
    <>
      <PageHeader title={texts.account.page} lead={texts.account.lead}>
        {isOwner && <RenameShop name={account.name} />}
      </PageHeader>
      <Parts />
    </>
  );
}

/** Waits for the parts that would push those below them down if they came later. */
function Parts(): ReactNode {
  const { isOwner } = useSession();
  const reads = [useQuery(accountQuery), useQuery(membersQuery), useQuery(factorsQuery), useQuery(sessionsQuery)];
  if (reads.some(({ isLoading }) => isLoading)) return <Waiting lines={12} />;
  return (
    <>
      <Plan />
      {isOwner && (
        <Group gap="xs" my="lg">
          <ShopCurrency />
          <ContactDays />
        </Group>
      )}
      <Members />
      <Password />
      <SecondFactors />
      <Sessions />
    </>
  );
}

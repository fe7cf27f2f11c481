import type { ReactNode } from "react";
import { useSession } from "../dashboard/session.ts";
import { PageHeader } from "../parts/page-header.tsx";
import { texts } from "../texts/texts.ts";
import { Members } from "./members.tsx";
import { Password } from "./password.tsx";
import { Plan } from "./plan.tsx";
import { RenameShop } from "./rename.tsx";
import { SecondFactors } from "./second-factors.tsx";
import { Sessions } from "./sessions.tsx";

/** `/dashboard/account`: the plan, the members, and the member's own password and sessions. */
export function AccountPage(): ReactNode {
  const { account, isOwner } = useSession();
  return (
    <>
      <PageHeader title={texts.account.page} lead={texts.account.lead(account.name)}>
        {isOwner && <RenameShop name={account.name} />}
      </PageHeader>
      <Plan />
      <Members />
      <Password />
      <SecondFactors />
      <Sessions />
    </>
  );
}

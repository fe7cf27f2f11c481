import type { ReactNode } from "react";
import { useSession } from "../dashboard/session.ts";
import { PageHeader } from "../parts/page-header.tsx";
import { texts } from "../texts/texts.ts";
import { Members } from "./members.tsx";
import { Password } from "./password.tsx";
import { Plan } from "./plan.tsx";
import { Sessions } from "./sessions.tsx";

/** `/dashboard/account`: the plan, the members, and the member's own password and sessions. */
export function AccountPage(): ReactNode {
  const { account } = useSession();
  return (
    <>
      <PageHeader title={texts.account.page} lead={texts.account.lead(account.name)} />
      <Plan />
      <Members />
      <Password />
      <Sessions />
    </>
  );
}

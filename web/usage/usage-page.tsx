import type { ReactNode } from "react";
import { PageHeader } from "../parts/page-header.tsx";
import { texts } from "../texts/texts.ts";
import { Bans } from "./bans.tsx";
import { LeftNow } from "./left-now.tsx";
import { Requests } from "./requests.tsx";
import { Stored } from "./stored.tsx";

/** `/dashboard/usage`: what is left, what was asked, by which key and of which operation, what is stored, and how near each key is to a ban. */
export function UsagePage(): ReactNode {
  return (
    <>
      <PageHeader title={texts.usage.page} lead={texts.usage.lead} />
      <LeftNow />
      <Requests />
      <Stored />
      <Bans />
    </>
  );
}

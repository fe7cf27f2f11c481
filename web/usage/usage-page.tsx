import type { ReactNode } from "react";
import { PageHeader } from "../parts/page-header.tsx";
import { texts } from "../texts/texts.ts";
import { Bans } from "./bans.tsx";
import { LeftNow } from "./left-now.tsx";
import { Requests } from "./requests.tsx";
import { Stored } from "./stored.tsx";

/** `/dashboard/usage`: requests left, requests made by key and operation, storage, and strikes. */
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

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Waiting } from "../frame/waiting.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { texts } from "../texts/texts.ts";
import { Bans } from "./bans.tsx";
import { LeftNow } from "./left-now.tsx";
import { polledAccountQuery } from "./queries.ts";
import { RequestLog } from "./request-log.tsx";
import { Requests } from "./requests.tsx";
import { Stored } from "./stored.tsx";

/** `/dashboard/usage`: requests left, requests made by key and operation, storage, and strikes. */
export function UsagePage(): ReactNode {
  return (
    <>
      <PageHeader title={texts.usage.page} lead={texts.usage.lead} />
      <Parts />
    </>
  );
}

/** Waits for the first part, which would push the others down if it came later. */
function Parts(): ReactNode {
  if (useQuery(polledAccountQuery).isLoading) return <Waiting lines={12} />;
  return (
    <>
      <LeftNow />
      <Requests />
      <RequestLog />
      <Stored />
      <Bans />
    </>
  );
}

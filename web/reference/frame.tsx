import { useQuery } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { highlighterQuery } from "../frame/code-block.tsx";
import { FailurePage } from "../frame/message-page.tsx";
import { WithSidebar } from "../frame/sidebar.tsx";
import { Waiting } from "../frame/waiting.tsx";
import { referenceTexts } from "../texts/en-reference.ts";
import { texts } from "../texts/texts.ts";
import { DescriptionContext } from "./context.ts";
import { descriptionQuery } from "./load.ts";
import { Navigation } from "./navigation.tsx";

/**
 * The frame of all pages of the reference, with the navigation. Loads the description, and at the same time the highlighter, so that code
 * has its colours when it first appears.
 */
export function ReferenceFrame(): ReactNode {
  const { data, isError, refetch } = useQuery(descriptionQuery);
  useQuery(highlighterQuery);
  if (isError) return <FailurePage text={texts.failure.description} onRetry={() => void refetch()} />;
  return (
    <WithSidebar isWide label={referenceTexts.contents} navigation={data ? <Navigation groups={data.groups} /> : <Waiting lines={12} />}>
      {data ? (
        <DescriptionContext value={data}>
          <Outlet />
        </DescriptionContext>
      ) : (
        <Waiting lines={5} />
      )}
    </WithSidebar>
  );
}

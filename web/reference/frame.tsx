import { useQuery } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { highlighterQuery } from "../frame/code-block.tsx";
import { FailurePage } from "../frame/message-page.tsx";
import { WithSidebar } from "../frame/sidebar.tsx";
import { Waiting } from "../frame/waiting.tsx";
import { texts } from "../texts/texts.ts";
import { DescriptionContext } from "./context.ts";
import { descriptionQuery } from "./load.ts";
import { Navigation } from "./navigation.tsx";

/**
 * What all pages of the reference share: the description, once it is there, and the navigation. The highlighter loads beside the
 * description, so that code does not change its colours in front of the reader.
 */
export function ReferenceFrame(): ReactNode {
  const { data, isError, refetch } = useQuery(descriptionQuery);
  useQuery(highlighterQuery);
  if (isError) return <FailurePage text={texts.failure.description} onRetry={() => void refetch()} />;
  return (
    <WithSidebar isWide label={texts.reference.contents} navigation={data ? <Navigation groups={data.groups} /> : <Waiting lines={12} />}>
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

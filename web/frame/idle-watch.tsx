import { useIsFetching } from "@tanstack/react-query";
import { useRouterState, type AnyRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { markIdle, useIdle } from "./use-idle.ts";

/** Longer than the pauses between the reads of a page that is loading. */
const quietMs = 300;

/** Marks the page as idle once it has loaded, and watches nothing from then on: each change of a query would look at all queries. */
export function IdleWatch({ router }: { router: AnyRouter }) {
  return useIdle() ? null : <LoadingWatch router={router} />;
}

function LoadingWatch({ router }: { router: AnyRouter }) {
  const isLoading = useRouterState({ router, select: ({ status }) => status === "pending" });
  const isReading = useIsFetching() > 0;
  useEffect(() => {
    if (isLoading || isReading) return;
    const timer = setTimeout(markIdle, quietMs);
    return () => clearTimeout(timer);
  }, [isLoading, isReading]);
  return null;
}

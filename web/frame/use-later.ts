import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useIdle } from "./use-idle.ts";

/** How often (ms) code is requested again while somebody waits for it. */
const againMs = 2_000;

/**
 * Loads code when the page is idle. `code` is undefined until it has loaded; if loading fails, as in an outage, the page works without it.
 * `loadNow` requests the code at once, and again until it has loaded. `name` must be unique.
 */
export function useLater<Code>(name: string, load: () => Promise<Code>): { code: Code | undefined; loadNow: () => void } {
  const [isWanted, setWanted] = useState(false);
  const isIdle = useIdle();
  const { data, refetch } = useQuery({
    queryKey: ["code", name],
    queryFn: load,
    enabled: isIdle || isWanted,
    refetchInterval: ({ state }) => isWanted && state.data === undefined && againMs,
    staleTime: Infinity,
    gcTime: Infinity,
    networkMode: "online",
  });
  function loadNow(): void {
    setWanted(true);
    if (data === undefined) void refetch();
  }
  return { code: data, loadNow };
}

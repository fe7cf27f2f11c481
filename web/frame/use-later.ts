import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useIdle } from "./use-idle.ts";

/** How often (ms) code that a visitor waits for is asked for again. */
const againMs = 2_000;

/**
 * Code that loads when the page is idle; undefined until it has come. If it does not come, as in an outage, the page goes on without it.
 * `loadNow` asks for it at once, and again and again until it comes. `name` is for this code alone.
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

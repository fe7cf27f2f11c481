import { useQuery } from "@tanstack/react-query";
import { useIdle } from "./use-idle.ts";

/**
 * Code that loads when the page is idle; undefined until it has come. If it does not come, as in an outage, the page goes on without it:
 * `loadNow` tries again. `name` is for this code alone.
 */
export function useLater<Code>(name: string, load: () => Promise<Code>): { code: Code | undefined; loadNow: () => void } {
  const { data, refetch } = useQuery({
    queryKey: ["code", name],
    queryFn: load,
    enabled: useIdle(),
    staleTime: Infinity,
    gcTime: Infinity,
    networkMode: "online",
  });
  return { code: data, loadNow: () => void (data === undefined && refetch()) };
}

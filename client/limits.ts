/** The longest that the client waits for a limit or a ban; beyond that it throws. */
export const limitWaitMsMax = 15 * 60_000;

/**
 * Reads the `RateLimit` field (draft-ietf-httpapi-ratelimit-headers). Returns the fewest requests left in any window, and the time until all windows
 * with so few left have reset. The field gives times in seconds from now, so the client's clock need not agree with the server's.
 */
export function limitLeft(headers: Headers): { requests: number; resetMs: number } | undefined {
  const windows = Array.from((headers.get("ratelimit") ?? "").matchAll(/"[^"]*"((?:;\w+=\d{1,12})+)/g), ([, parameters = ""]) => {
    const values = new Map(Array.from(parameters.matchAll(/;(\w+)=(\d+)/g), ([, name, digits]) => [name, Number(digits)]));
    return { requests: values.get("r") ?? Infinity, resetMs: (values.get("t") ?? 0) * 1_000 };
  });
  if (windows.length === 0) return undefined;
  const requests = Math.min(...windows.map((window) => window.requests));
  return { requests, resetMs: Math.max(...windows.filter((window) => window.requests === requests).map(({ resetMs }) => resetMs)) };
}

/** Returns the delay that `Retry-After` asks for, in ms from `now`, rounded up; undefined if absent or invalid (RFC 9110, 10.2.3). */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const text = headers.get("retry-after")?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil(date - now));
}

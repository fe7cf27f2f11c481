const units = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["week", 7 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** How long before `now` a time is, in the largest whole unit, in the reader's language. Both in ms. A time that is not past is now. */
export function agoOf(at: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - at) / 1_000));
  const [unit, length] = units.find(([, some]) => seconds >= some) ?? (["second", 1] as const);
  const count = unit === "second" ? 0 : Math.floor(seconds / length);
  return new Intl.RelativeTimeFormat(undefined, { numeric: "auto" }).format(-count, unit);
}

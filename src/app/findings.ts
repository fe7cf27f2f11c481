/** The result of a check. `isUnreachable`: a service that this one needs does not answer. */
export type Finding = { check: string; level: "ok" | "warning" | "fault"; message: string; fix: string | null; isUnreachable: boolean };

/** How long a check waits for a service that this one needs. */
export const answerMs = 5_000;
/** Clocks of machines with a time server differ by less. */
const clockMsMax = 5_000;

export const ok = (check: string, message: string): Finding => ({ check, level: "ok", message, fix: null, isUnreachable: false });
export const warning = (check: string, message: string, fix: string): Finding => ({
  check,
  level: "warning",
  message,
  fix,
  isUnreachable: false,
});
export const fault = (check: string, message: string, fix: string, { isUnreachable = false } = {}): Finding => ({
  check,
  level: "fault",
  message,
  fix,
  isUnreachable,
});

/** Compares a clock with this machine's. */
export function clockFinding(of: string, theirs: number, ours: number): Finding {
  const awaySeconds = Math.round(Math.abs(theirs - ours) / 1_000);
  if (Math.abs(theirs - ours) <= clockMsMax) return ok("clock", `the same as that of ${of}`);
  const message = `${awaySeconds} seconds away from that of ${of}`;
  const fix = "set the clocks, and synchronize them with a time server";
  return awaySeconds > 3_600 ? fault("clock", message, fix) : warning("clock", message, fix);
}

/** The first line of an error. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return (message || code || String(error)).split("\n")[0] ?? "";
}

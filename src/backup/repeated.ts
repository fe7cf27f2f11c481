/** Times between backups, and the loop that makes them. */

const unitsMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** The longest pause: a timer cannot wait longer than 24 days. */
const pauseMsMax = 20 * 86_400_000;

/** Parses a time such as `6h`: seconds, minutes, hours or days, from 1 second to 20 days. Returns ms, or undefined for any other text. */
export function parsePause(text: string): number | undefined {
  const [, number, unit = ""] = /^([1-9]\d{0,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(number) * (unitsMs[unit] ?? Number.NaN);
  return ms <= pauseMsMax ? ms : undefined;
}

export type Repeated = {
  everyMs: number;
  now: () => number;
  /** Resolves after a time, or at once when it is aborted. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  signal: AbortSignal;
  onFailed: (error: unknown) => void;
};

/**
 * Makes a backup at once and then one at each interval, until the signal is aborted. A failed backup does not end the loop. While a backup
 * takes longer than the interval, the intervals that pass are skipped.
 */
export async function repeatBackups(make: () => Promise<void>, { everyMs, now, wait, signal, onFailed }: Repeated): Promise<void> {
  const begun = now();
  while (!signal.aborted) {
    await make().catch(onFailed);
    const since = now() - begun;
    if (!signal.aborted) await wait(everyMs - (since % everyMs), signal);
  }
}

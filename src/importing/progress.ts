import type { Clock } from "../platform/clock.ts";

/** The output for progress: a bar on a terminal, a few plain lines elsewhere. */
type Screen = { write(text: string): unknown; isTTY?: boolean; columns?: number };
export type Progress = { advance: (rows: number) => void; note: (line: string) => void; end: () => void };

const redrawMs = 100;
/** Without a terminal, a line is written after each tenth of the pets. */
const plainSteps = 10;

/** Shows how many of `total` pets are done; `now` is in ms. `note` prints a line above the bar. */
export function showProgress(screen: Screen, total: number, now: Clock): Progress {
  const startedAt = now();
  let done = 0;
  let drawnAt = startedAt;
  let step = 0;

  function advance(rows: number): void {
    done += rows;
    if (screen.isTTY) {
      if (now() - drawnAt >= redrawMs || done === total) draw();
    } else if (Math.floor((done / total) * plainSteps) > step) {
      step = Math.floor((done / total) * plainSteps);
      screen.write(`${counted(done)} of ${counted(total)} animals\n`);
    }
  }

  function draw(): void {
    drawnAt = now();
    screen.write(`\r\x1b[K${bar(done, total, drawnAt - startedAt, screen.columns || 80)}`);
  }

  function note(line: string): void {
    screen.write(screen.isTTY ? `\r\x1b[K${line}\n` : `${line}\n`);
    if (screen.isTTY) draw();
  }

  function end(): void {
    if (screen.isTTY && total > 0) screen.write("\r\x1b[K");
  }

  if (screen.isTTY && total > 0) draw();
  return { advance, note, end };
}

/** One line of at most `columns` characters: the bar, the counts and, once the pace is known, the seconds left. */
export function bar(done: number, total: number, elapsedMs: number, columns: number): string {
  const leftSeconds = done === 0 ? undefined : Math.ceil(((elapsedMs / done) * (total - done)) / 1_000);
  const counts = ` ${counted(done)} of ${counted(total)} animals${leftSeconds === undefined ? "" : `, ${leftSeconds} s left`}`;
  const width = Math.max(0, Math.min(40, columns - counts.length - 3));
  const filled = total === 0 ? width : Math.round((done / total) * width);
  return `[${"█".repeat(filled)}${"·".repeat(width - filled)}]${counts}`.slice(0, Math.max(0, columns - 1));
}

/** Formats a whole number with separators: 28,754. */
export function counted(value: number): string {
  return value.toLocaleString("en-US");
}

/** Turns a line of the log, as JSON, into one that people read: time, level, what happened, then the other fields. */
export function readableLine(line: string): string {
  const { time, level, msg, method, host, path, status, ms, err, ...more } = JSON.parse(line) as Fields;
  const request = method === undefined ? [] : [method, [host, path].map(shown).join(""), status, `${shown(ms)} ms`];
  const fields = Object.entries(more).map(([name, value]) => `${name}=${shown(value)}`);
  const head = [timeText(time), levels[Number(level)] ?? "INFO ", msg, ...request, ...fields];
  const { stack } = (err ?? {}) as { stack?: string };
  const text = head.map(shown).filter((part) => part !== "");
  return `${text.join(" ")}\n${stack === undefined ? "" : `${indented(stack)}\n`}`;
}

type Fields = Record<string, unknown>;

const levels: Record<number, string> = { 10: "TRACE", 20: "DEBUG", 30: "INFO ", 40: "WARN ", 50: "ERROR", 60: "FATAL" };

/** The time of day in this machine's zone: a terminal shows what happens now. */
function timeText(time: unknown): string {
  const at = new Date(Number(time));
  return `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  return printable(typeof value === "string" ? value : JSON.stringify(value));
}

/** Escapes control characters, which could otherwise steer the reader's terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => String.raw`\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function indented(stack: string): string {
  return stack
    .split("\n")
    .map((line) => `    ${printable(line)}`)
    .join("\n");
}

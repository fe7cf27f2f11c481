import { Problem } from "../platform/problem.ts";
import { withAdministration, type Call } from "./administer.ts";
import { columns, countOf, numeric, UsageError, type Arguments, type Command, type Io, type Outcome } from "./command.ts";
import { toFile } from "./input-output.ts";

/** The events that are shown by default, the most that are shown or written, and the most of one page. */
const shownMax = 100;
const writtenMax = 100_000;
const pageMax = 100;

export const audit: Command = {
  name: "audit",
  summary: "Show who did what in an account, the newest first, or write it as CSV",
  options: {
    account: { value: "ID", required: true, about: "the account" },
    types: {
      value: "TYPE",
      multiple: true,
      about:
        "only events of this type, such as key.created or key.*; can be repeated. Default: those of keys, members, the account, webhooks and sites",
    },
    actor: { value: "WHO", about: "only events by this actor: member/3, key/5, operator or system" },
    resource: { value: "WHAT", about: "only events of this resource, such as domain/www.example.com" },
    "request-id": { value: "ID", about: "only events of this request" },
    from: { value: "TIME", about: "not before this time, such as 2026-12-24T10:00:00Z" },
    to: { value: "TIME", about: "before this time" },
    before: { value: "POSITION", about: "only events before this position, such as next of an earlier answer" },
    limit: { value: "N", about: `the most events, up to ${writtenMax}. Default: ${shownMax}, with --csv ${writtenMax}` },
    csv: { value: "FILE", about: "write CSV to a file, which appears only when complete, or to standard output as -" },
  },
  async run({ options, json }, io) {
    const { csv } = options;
    if (json && csv === "-") throw new UsageError("--json prints one JSON object: write the CSV to a file");
    const asked = askedBy(options);
    const limit = limitOf(options["limit"], csv === undefined ? shownMax : writtenMax);
    return withAdministration(io, "petstore audit", (call) =>
      csv === undefined ? shown(call, asked, limit) : written(call, asked, limit, String(csv), io),
    );
  },
};

type AuditRequest = ReturnType<typeof askedBy>;

function askedBy({ account, types, actor, resource, "request-id": requestId, from, to, before }: Arguments["options"]) {
  return { account: numeric(account), types, actor, resource, requestId, from, to, before: numeric(before) };
}

function limitOf(given: Arguments["options"][string], otherwise: number): number {
  const limit = numeric(given ?? String(otherwise));
  if (Number.isSafeInteger(limit) && Number(limit) >= 1 && Number(limit) <= writtenMax) return Number(limit);
  throw new Problem("invalid_request", `--limit must be 1 to ${writtenMax}`);
}

/** Asks for pages until there are `limit` events or no more. Yields each, and returns `next` of the last. */
async function* pages<P extends { next: number | null }>(
  ask: (page: object) => Promise<P>,
  sizeOf: (page: P) => number,
  asked: AuditRequest,
  limit: number,
) {
  let before = asked.before;
  for (let left = limit; ;) {
    const page = await ask({ ...asked, before, limit: Math.min(left, pageMax) });
    yield page;
    left -= sizeOf(page);
    if (page.next === null || left <= 0) return page.next;
    before = page.next;
  }
}

async function shown(call: Call, asked: AuditRequest, limit: number): Promise<Outcome> {
  const found = [];
  const ask = (page: object) => call("audit.list", page);
  let next: number | null = null;
  for await (const page of pages(ask, ({ events }) => events.length, asked, limit)) {
    found.push(...page.events);
    next = page.next;
  }
  const rows = found.map(({ position, at, type, actor, resource, requestId }) => {
    const who = actor.name ?? (actor.id === null ? actor.type : `${actor.type}/${actor.id}`);
    return [position, at, type, who, `${resource.type}/${resource.id}`, requestId];
  });
  const more = next === null ? "" : `\nThere are more: go on with --before ${next}`;
  return { json: { events: found, next }, text: `${columns(["POSITION", "AT", "TYPE", "WHO", "WHAT", "REQUEST"], rows)}${more}` };
}

async function written(call: Call, asked: AuditRequest, limit: number, file: string, io: Io): Promise<Outcome | undefined> {
  const done = { events: 0, next: null as number | null };
  async function* lines(): AsyncGenerator<string> {
    const ask = (page: object) => call("audit.export", page);
    for await (const { csv, count, next } of pages(ask, (page) => page.count, asked, limit)) {
      done.events += count;
      done.next = next;
      yield csv;
    }
  }
  const { Readable } = await import("node:stream");
  const text = Readable.from(lines());
  const more = () => (done.next === null ? "" : `There are more: go on with --before ${done.next}`);
  if (file === "-") {
    const { pipeline } = await import("node:stream/promises");
    await pipeline(text, io.stdout, { end: false });
    if (done.next !== null) io.stderr.write(`${more()}\n`);
    return undefined;
  }
  await toFile(text, file, 0o600);
  return { json: { file, ...done }, text: [`${countOf(done.events, "event")} in ${file}`, more()].filter(Boolean).join("\n") };
}

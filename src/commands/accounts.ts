import { Problem } from "../platform/problem.ts";
import { administer, withAdministration } from "./administer.ts";
import { columns, ifNotExists, numeric, type Arguments, type Command, type Io, type Options, type Outcome } from "./command.ts";

const planOptions: Options = {
  plan: {
    value: "free|pro|business|enterprise",
    required: true,
    about: "the plan, which sets the limits on requests and on storage",
  },
  "per-minute": { value: "N", about: "requests per minute, for enterprise" },
  "per-day": { value: "N", about: "requests per day, for enterprise" },
  records: { value: "N", about: "how many pets (also those in the bin), categories and open orders it may store. Default: the plan's" },
  "published-bytes": { value: "N", about: "how many bytes its published files may take up. Default: the plan's" },
  "event-bytes": { value: "N", about: "how many bytes its events may take up; the oldest go first. Default: the plan's" },
};

export const accountsCreate: Command = {
  name: "accounts create",
  summary: "Create an account and its first key, which is shown once",
  options: { name: { value: "NAME", required: true, about: "the account's name, 1 to 200 characters" }, ...planOptions, ...ifNotExists },
  async run({ options }, io) {
    if (options["if-not-exists"] === true) return createUnlessExists(options, io);
    const json = await administer(io, "accounts.create", { name: options["name"], ...planTerms(options) });
    const { account, key } = json;
    return { json, text: `Account ${account.id} (${account.name}, ${account.plan}) has the key\n${key}\nIt is not shown again.` };
  },
};

async function createUnlessExists(options: Arguments["options"], io: Io): Promise<Outcome> {
  const name = String(options["name"]).trim();
  return withAdministration(
    io,
    "petstore accounts create",
    async (call) => {
      let after: number | undefined;
      for (;;) {
        const { accounts } = await call("accounts.list", { after });
        const account = accounts.find((one) => one.name === name);
        if (account) {
          const { id, plan } = account;
          return {
            json: { account: { id, name, plan }, key: null, created: false },
            text: `Account ${id} (${name}, ${plan}) exists already.`,
          };
        }
        if (accounts.length === 0) break;
        after = accounts.at(-1)?.id;
      }
      const { account, key } = await call("accounts.create", { name, ...planTerms(options) });
      return {
        json: { account, key, created: true },
        text: `Account ${account.id} (${account.name}, ${account.plan}) has the key\n${key}\nIt is not shown again.`,
      };
    },
    { mayBegin: true },
  );
}

export const accountsList: Command = {
  name: "accounts list",
  summary: "List the accounts by id, at most 1,000 of them",
  options: { after: { value: "ID", about: "list the accounts after this one" } },
  async run({ options }, io) {
    const json = await administer(io, "accounts.list", { after: numeric(options["after"]) });
    const rows = json.accounts.map((a) => [
      a.id,
      a.name,
      a.plan,
      a.perMinute,
      a.perDay,
      share(a.records),
      share(a.publishedBytes),
      share(a.eventBytes),
      a.createdAt,
    ]);
    return {
      json,
      text: columns(["ID", "NAME", "PLAN", "A MINUTE", "A DAY", "RECORDS", "PUBLISHED BYTES", "EVENT BYTES", "CREATED"], rows),
    };
  },
};

export const accountsSetPlan: Command = {
  name: "accounts set-plan",
  summary: "Change an account's plan; storage limits can be set on every plan, request limits on enterprise only",
  options: {
    ...planOptions,
    "dry-run": { about: "show what would change, and which domains would no longer be served; change nothing" },
  },
  operands: ["ID"],
  async run({ options, operands }, io) {
    const terms = { id: numeric(operands[0]), ...planTerms(options), dryRun: options["dry-run"] === true };
    const json = await administer(io, "accounts.setPlan", terms);
    const { id, plan, perMinute, perDay, records, publishedBytes, eventBytes } = json.account;
    const stored = `${records.limit} records, ${publishedBytes.limit} bytes of published files, ${eventBytes.limit} bytes of events`;
    const lines = [
      `Account ${id} ${json.dryRun ? "would be" : "is"} on ${plan}: ${perMinute} requests a minute, ${perDay} a day, ${stored}.`,
      ...stoppedNames(json),
    ];
    const excess = eventBytes.used - eventBytes.limit;
    if (excess > 0) lines.push(`Its oldest events ${json.dryRun ? "would be" : "are being"} deleted: ${excess} bytes.`);
    if (json.warning !== undefined) lines.push(json.warning);
    if (json.dryRun) lines.push("Nothing was changed.");
    return { json, text: lines.join("\n") };
  },
};

export const accountsDelete: Command = {
  name: "accounts delete",
  summary: "Delete an account with its members, keys, catalogue, orders, stock and published projects",
  options: { yes: { about: "confirm the deletion" } },
  operands: ["ID"],
  async run({ options, operands }, io) {
    if (!options["yes"])
      throw new Problem("invalid_request", `This deletes everything that account ${operands[0]} owns. Add --yes to confirm.`);
    const json = await administer(io, "accounts.delete", { id: numeric(operands[0]) });
    return { json, text: `Account ${json.account.id} (${json.account.name}) is deleted.` };
  },
};

/** The custom domains that a plan stops serving. */
function stoppedNames({ stopped, dryRun }: { stopped: { count: number; hostnames: string[] }; dryRun: boolean }): string[] {
  const { count, hostnames } = stopped;
  if (count === 0) return [];
  const more = count - hostnames.length;
  const lead = `${count} ${count === 1 ? "domain" : "domains"} ${dryRun ? "would not be" : count === 1 ? "is not" : "are not"} served any more:`;
  return [lead, ...hostnames.map((hostname) => `  ${hostname}`), ...(more > 0 ? [`  and ${more} more`] : [])];
}

function planTerms(options: Arguments["options"]) {
  return {
    plan: options["plan"],
    perMinute: numeric(options["per-minute"]),
    perDay: numeric(options["per-day"]),
    records: numeric(options["records"]),
    publishedBytes: numeric(options["published-bytes"]),
    eventBytes: numeric(options["event-bytes"]),
  };
}

/** The used part of a limit, such as `12/25000`. */
function share({ used, limit }: { used: number; limit: number }): string {
  return `${used}/${limit}`;
}

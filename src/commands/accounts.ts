import { Problem } from "../platform/problem.ts";
import { administer } from "./administer.ts";
import { columns, numeric, type Arguments, type Command, type Options } from "./command.ts";

const planOptions: Options = {
  plan: { value: "free|pro|business|enterprise", required: true, about: "the plan, which sets the limits of requests" },
  "per-minute": { value: "N", about: "requests a minute, for enterprise" },
  "per-day": { value: "N", about: "requests a day, for enterprise" },
};

export const accountsCreate: Command = {
  name: "accounts create",
  summary: "Make an account and its first key, which is shown once",
  options: { name: { value: "NAME", required: true, about: "the account's name, 1 to 200 characters" }, ...planOptions },
  async run({ options }) {
    const json = await administer("accounts.create", { name: options["name"], ...planTerms(options) });
    const { account, key } = json;
    return { json, text: `Account ${account.id} (${account.name}, ${account.plan}) has the key\n${key}\nIt is not shown again.` };
  },
};

export const accountsList: Command = {
  name: "accounts list",
  summary: "List the accounts by id, at most 1,000 of them",
  options: { after: { value: "ID", about: "begin after this account" } },
  async run({ options }) {
    const json = await administer("accounts.list", { after: numeric(options["after"]) });
    const rows = json.accounts.map((a) => [a.id, a.name, a.plan, a.perMinute, a.perDay, a.createdAt]);
    return { json, text: columns(["ID", "NAME", "PLAN", "A MINUTE", "A DAY", "CREATED"], rows) };
  },
};

export const accountsSetPlan: Command = {
  name: "accounts set-plan",
  summary: "Change an account's plan; only enterprise takes figures of its own",
  options: planOptions,
  operands: ["ID"],
  async run({ options, operands }) {
    const json = await administer("accounts.setPlan", { id: numeric(operands[0]), ...planTerms(options) });
    const { id, plan, perMinute, perDay } = json.account;
    return { json, text: `Account ${id} is on ${plan}: ${perMinute} requests a minute, ${perDay} a day.` };
  },
};

export const accountsDelete: Command = {
  name: "accounts delete",
  summary: "Delete an account with its members, keys, catalogue, orders, stock and published projects",
  options: { yes: { about: "really delete it" } },
  operands: ["ID"],
  async run({ options, operands }) {
    if (!options["yes"]) throw new Problem("invalid_request", `This deletes all that account ${operands[0]} owns: say --yes to do it.`);
    const json = await administer("accounts.delete", { id: numeric(operands[0]) });
    return { json, text: `Account ${json.account.id} (${json.account.name}) is deleted.` };
  },
};

function planTerms(options: Arguments["options"]) {
  return { plan: options["plan"], perMinute: numeric(options["per-minute"]), perDay: numeric(options["per-day"]) };
}

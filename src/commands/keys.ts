import { administer } from "./administer.ts";
import { columns, numeric, type Command } from "./command.ts";

export const keysCreate: Command = {
  name: "keys create",
  usage: "--account ID [--scope SCOPE]… [--expires DATE] [--publishable]",
  summary: "Make a key, which is shown once; without a scope it has all that its kind may have",
  options: {
    account: { type: "string" },
    scope: { type: "string", multiple: true },
    expires: { type: "string" },
    publishable: { type: "boolean" },
  },
  required: ["account"],
  async run({ options }) {
    const { account, scope, expires, publishable } = options;
    const json = await administer("keys.create", { account: numeric(account), scopes: scope, expires, publishable });
    return { json, text: shown(json) };
  },
};

export const keysList: Command = {
  name: "keys list",
  usage: "--account ID",
  summary: "List an account's keys by their beginnings",
  options: { account: { type: "string" } },
  required: ["account"],
  async run({ options }) {
    const json = await administer("keys.list", { account: numeric(options["account"]) });
    const rows = json.keys.map((key) => [key.id, `${key.prefix}…`, key.createdAt, key.expiresAt, key.lastUsedAt, key.scopes.join(" ")]);
    return { json, text: columns(["ID", "KEY", "CREATED", "EXPIRES", "LAST USED", "SCOPES"], rows) };
  },
};

export const keysRotate: Command = {
  name: "keys rotate",
  usage: "KEYID [--overlap HOURS]",
  summary: "Make a key like another one, which ends after the overlap (24 hours unless told)",
  options: { overlap: { type: "string" } },
  operands: ["KEYID"],
  async run({ options, operands }) {
    const json = await administer("keys.rotate", { id: numeric(operands[0]), overlapHours: numeric(options["overlap"]) });
    return { json, text: `${shown(json)}\nKey ${json.previous.id} ends at ${json.previous.expiresAt}.` };
  },
};

export const keysRevoke: Command = {
  name: "keys revoke",
  usage: "KEYID",
  summary: "End a key at once",
  operands: ["KEYID"],
  async run({ operands }) {
    const json = await administer("keys.revoke", { id: numeric(operands[0]) });
    return { json, text: `Key ${json.id} (${json.prefix}…) of account ${json.account} is revoked.` };
  },
};

export const keysUnban: Command = {
  name: "keys unban",
  usage: "KEYID",
  summary: "End a key's ban and forget its strikes",
  operands: ["KEYID"],
  async run({ operands }) {
    const json = await administer("keys.unban", { id: numeric(operands[0]) });
    const name = `Key ${json.id} (${json.prefix}…) of account ${json.account}`;
    return { json, text: json.unbanned ? `${name} starts anew, without ban and strikes.` : `${name} had no ban and no strikes.` };
  },
};

function shown({ id, key, scopes }: { id: number; key: string; scopes: string[] }): string {
  return `Key ${id} (${scopes.join(" ")}) is\n${key}\nIt is not shown again.`;
}

import { administer } from "./administer.ts";
import { columns, ifNotExists, numeric, UsageError, type Command } from "./command.ts";

export const keysCreate: Command = {
  name: "keys create",
  summary: "Create a key, which is shown once",
  options: {
    account: { value: "ID", required: true, about: "the account of the key" },
    scope: { value: "SCOPE", multiple: true, about: "a scope, such as catalogue:read. Default: every scope that its kind may have" },
    expires: { value: "DATE", about: "a day, or a date and time, after which the key no longer works" },
    publishable: { about: "create a key for browsers, which can only read the catalogue and the stock" },
    name: { value: "NAME", about: "the key's name. Default: Key and its number" },
    origin: {
      value: "URL",
      multiple: true,
      about: "with --publishable: a web origin, such as https://shop.example, that may use the key. Default: any",
    },
    ...ifNotExists,
  },
  async run({ options }, io) {
    const { account, scope, expires, publishable, name, origin } = options;
    if (options["if-not-exists"] === true) {
      if (typeof name !== "string") throw new UsageError("--if-not-exists needs --name, which tells the account's keys apart");
      const { keys } = await administer(io, "keys.list", { account: numeric(account) });
      const found = keys.find((key) => key.name === name.trim());
      if (found) return { json: { ...found, key: null, created: false }, text: `Key ${found.id} (${found.name}) exists already.` };
    }
    const asked = { scopes: scope, expires, publishable, name, origins: origin };
    const json = await administer(io, "keys.create", { account: numeric(account), ...asked });
    return { json: options["if-not-exists"] === true ? { ...json, created: true } : json, text: shown(json) };
  },
};

export const keysList: Command = {
  name: "keys list",
  summary: "List an account's keys, each by its first characters",
  options: { account: { value: "ID", required: true, about: "the account of the keys" } },
  async run({ options }, io) {
    const json = await administer(io, "keys.list", { account: numeric(options["account"]) });
    const rows = json.keys.map(({ id, name, prefix, createdAt, expiresAt, lastUsedAt, scopes, origins }) => {
      return [id, name, `${prefix}…`, createdAt, expiresAt, lastUsedAt, scopes.join(" "), origins.join(" ")];
    });
    return { json, text: columns(["ID", "NAME", "KEY", "CREATED", "EXPIRES", "LAST USED", "SCOPES", "ORIGINS"], rows) };
  },
};

export const keysRotate: Command = {
  name: "keys rotate",
  summary: "Create a key that replaces another one, which ends after an overlap",
  options: { overlap: { value: "HOURS", about: "how long the old key still works. Default: 24" } },
  operands: ["KEYID"],
  async run({ options, operands }, io) {
    const json = await administer(io, "keys.rotate", { id: numeric(operands[0]), overlapHours: numeric(options["overlap"]) });
    return { json, text: `${shown(json)}\nKey ${json.previous.id} ends at ${json.previous.expiresAt}.` };
  },
};

export const keysRevoke: Command = {
  name: "keys revoke",
  summary: "Revoke a key at once",
  operands: ["KEYID"],
  async run({ operands }, io) {
    const json = await administer(io, "keys.revoke", { id: numeric(operands[0]) });
    return { json, text: `Key ${json.id} (${json.prefix}…) of account ${json.account} is revoked.` };
  },
};

export const keysUnban: Command = {
  name: "keys unban",
  summary: "End a key's ban and clear its strikes",
  operands: ["KEYID"],
  async run({ operands }, io) {
    const json = await administer(io, "keys.unban", { id: numeric(operands[0]) });
    const name = `Key ${json.id} (${json.prefix}…) of account ${json.account}`;
    return { json, text: json.unbanned ? `The ban and strikes of ${name} are cleared.` : `${name} had no ban and no strikes.` };
  },
};

function shown({ id, key, scopes }: { id: number; key: string; scopes: string[] }): string {
  return `Key ${id} (${scopes.join(" ")}) is\n${key}\nIt is not shown again.`;
}

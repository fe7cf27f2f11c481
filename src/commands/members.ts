import { administer } from "./administer.ts";
import { columns, numeric, type Command } from "./command.ts";

const one = { account: { type: "string" }, email: { type: "string" } } as const;

export const membersInvite: Command = {
  name: "members invite",
  usage: "--account ID --email EMAIL [--role owner|member]",
  summary: "Make a sign-in link for a member of an account, new or not; the first one becomes an owner",
  options: { ...one, role: { type: "string" } },
  required: ["account", "email"],
  async run({ options: { account, email, role } }) {
    const json = await administer("members.invite", { account: numeric(account), email, role });
    return { json, text: shown(json) };
  },
};

export const membersReset: Command = {
  name: "members reset",
  usage: "--account ID --email EMAIL",
  summary: "Take a member's password and sessions away, and make a new sign-in link",
  options: one,
  required: ["account", "email"],
  async run({ options: { account, email } }) {
    const json = await administer("members.reset", { account: numeric(account), email });
    return { json, text: shown(json) };
  },
};

export const membersList: Command = {
  name: "members list",
  usage: "--account ID",
  summary: "List an account's members",
  options: { account: { type: "string" } },
  required: ["account"],
  async run({ options }) {
    const json = await administer("members.list", { account: numeric(options["account"]) });
    const rows = json.members.map((member) => [member.id, member.email, member.role, member.createdAt, member.signedInAt]);
    return { json, text: columns(["ID", "EMAIL", "ROLE", "INVITED", "SIGNED IN"], rows) };
  },
};

export const membersRemove: Command = {
  name: "members remove",
  usage: "--account ID --email EMAIL",
  summary: "Remove a member, whose sessions end at once",
  options: one,
  required: ["account", "email"],
  async run({ options: { account, email } }) {
    const json = await administer("members.remove", { account: numeric(account), email });
    return { json, text: `Member ${json.member.id} (${json.member.email}) is removed.` };
  },
};

function shown({ member, link }: { member: { email: string | null; role: string }; link: string }): string {
  return `${member.email} (${member.role}) signs in, within 15 minutes and once, at\n${link}`;
}

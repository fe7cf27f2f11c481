import { administer } from "./administer.ts";
import { columns, numeric, type Command, type Options } from "./command.ts";

const one = {
  account: { value: "ID", required: true, about: "the account that the member belongs to" },
  email: { value: "EMAIL", required: true, about: "the member's email address" },
} as const satisfies Options;

export const membersInvite: Command = {
  name: "members invite",
  summary: "Add a member to an account and create a sign-in link; the first member becomes an owner",
  options: {
    ...one,
    role: { value: "owner|member", about: "the member's role. Default: owner for the first member, else member" },
  },
  async run({ options: { account, email, role } }, io) {
    const json = await administer(io, "members.invite", { account: numeric(account), email, role });
    return { json, text: shown(json) };
  },
};

export const membersReset: Command = {
  name: "members reset",
  summary: "End a member's password and sessions, and create a new sign-in link",
  options: one,
  async run({ options: { account, email } }, io) {
    const json = await administer(io, "members.reset", { account: numeric(account), email });
    return { json, text: shown(json) };
  },
};

export const membersList: Command = {
  name: "members list",
  summary: "List an account's members",
  options: { account: { value: "ID", required: true, about: "the account of the members" } },
  async run({ options }, io) {
    const json = await administer(io, "members.list", { account: numeric(options["account"]) });
    const rows = json.members.map((member) => [member.id, member.email, member.role, member.createdAt, member.signedInAt]);
    return { json, text: columns(["ID", "EMAIL", "ROLE", "INVITED", "SIGNED IN"], rows) };
  },
};

export const membersRemove: Command = {
  name: "members remove",
  summary: "Remove a member, whose sessions end at once",
  options: one,
  async run({ options: { account, email } }, io) {
    const json = await administer(io, "members.remove", { account: numeric(account), email });
    return { json, text: `Member ${json.member.id} (${json.member.email}) is removed.` };
  },
};

function shown({ member, link }: { member: { email: string | null; role: string }; link: string }): string {
  return `${member.email} (${member.role}) signs in, within 15 minutes and once, at\n${link}`;
}

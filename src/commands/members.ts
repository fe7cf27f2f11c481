import { Problem } from "../platform/problem.ts";
import { administer } from "./administer.ts";
import { unlessExists } from "./calls.ts";
import { columns, ifNotExists, numeric, type Command, type Options } from "./command.ts";

const one = {
  account: { value: "ID", required: true, about: "the account that the member belongs to" },
  email: { value: "EMAIL", required: true, about: "the member's email address" },
} as const satisfies Options;

type Invited = { email: string | null; role: string };
/** `link`: null if the member existed. */
type Invitation = { member: Invited; link: string | null; expiresAt: string | null };

const factorsRemoved = "The member's second factors and recovery codes are removed too: the member sets up new ones after signing in.";

export const membersInvite: Command = {
  name: "members invite",
  summary: "Add a member to an account and create a sign-in link; the first member becomes an owner",
  options: {
    ...one,
    role: { value: "owner|member", about: "the member's role. Default: owner for the first member, else member" },
    ...ifNotExists,
  },
  async run({ options: { account, email, role, "if-not-exists": mayExist } }, io) {
    const invite = () => administer(io, "members.invite", { account: numeric(account), email, role });
    if (mayExist !== true) {
      const json = await invite();
      return { json, text: shown(json) };
    }
    const find = async () => {
      const { members } = await administer(io, "members.list", { account: numeric(account) });
      const member = members.find((known) => known.email?.toLowerCase() === String(email).trim().toLowerCase());
      if (member === undefined) throw new Problem("not_found", `There is no member ${String(email)}.`);
      return { member, link: null, expiresAt: null };
    };
    const { created, found } = await unlessExists<Invitation>(invite, "member_exists", find);
    const { member, link, expiresAt } = found;
    return {
      json: { ...found, created },
      text:
        link === null || expiresAt === null ? `${member.email} (${member.role}) is a member already.` : shown({ member, link, expiresAt }),
    };
  },
};

export const membersReset: Command = {
  name: "members reset",
  summary: "Remove a member's password, second factors and sessions, and create a new sign-in link",
  options: one,
  async run({ options: { account, email } }, io) {
    const json = await administer(io, "members.reset", { account: numeric(account), email });
    return { json, text: json.hadSecondFactor ? `${factorsRemoved}\n${shown(json)}` : shown(json) };
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

function shown({ member, link, expiresAt }: { member: Invited; link: string; expiresAt: string }): string {
  return `${member.email} (${member.role}) can sign in once, until ${expiresAt}, at\n${link}`;
}

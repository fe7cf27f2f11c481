import { withAdministration, type Call } from "./administer.ts";
import { columns, countOf, numeric, UsageError, type Command, type Outcome } from "./command.ts";

/** The most contacts that are listed, and the most that one call deletes. */
const listedMax = 10_000;
const deletedMax = 500;

/** `isWhole` is whether all contacts that were found are listed. */
type Found = { contacts: Contact[]; enquiries: Enquiry[]; members: object[]; isWhole: boolean };
type Fields = { name?: string; email?: string; phone?: string; address?: string; note?: string };
type Contact = Fields & { orderId: number };
type Enquiry = Fields & { reservationId: number };

export const privacy: Command = {
  name: "privacy",
  summary: "Find what an account keeps about a person: contacts of orders and enquiries, and members; with --delete delete the contacts",
  options: {
    account: { value: "ID", required: true, about: "the account" },
    email: { value: "EMAIL", about: "find by this email address" },
    phone: { value: "NUMBER", about: "find by this telephone number, in any spelling" },
    name: { value: "NAME", about: "find by all words of this name" },
    delete: { about: "delete the contacts that are found; the orders and enquiries stay, and `members remove` removes a member" },
  },
  async run({ options }, io) {
    const { account, email, phone, name } = options;
    if (email === undefined && phone === undefined && name === undefined)
      throw new UsageError("say whom to find: --email, --phone or --name");
    const asked = { account: numeric(account), email, phone, name };
    return withAdministration(io, "petstore privacy", (call) => search(call, asked, options["delete"] === true));
  },
};

async function search(call: Call, asked: { account: unknown }, isDeleting: boolean): Promise<Outcome> {
  const { account } = asked;
  const found: Found = { contacts: [], enquiries: [], members: [], isWhole: true };
  let deleted = 0;
  for (let after: number | null | undefined; after !== null;) {
    const { contacts, enquiries, members, next } = await call("privacy.find", { ...asked, after });
    found.members.push(...members);
    found.enquiries.push(...enquiries);
    const room = listedMax - found.contacts.length;
    found.contacts.push(...contacts.slice(0, room));
    found.isWhole &&= contacts.length <= room;
    const doomed = isDeleting ? contacts : [];
    for (let from = 0; from < doomed.length; from += deletedMax) {
      const orders = doomed.slice(from, from + deletedMax).map(({ orderId }) => orderId);
      deleted += (await call("privacy.delete", { account, orders })).deleted.length;
    }
    const doomedEnquiries = isDeleting ? enquiries : [];
    for (let from = 0; from < doomedEnquiries.length; from += deletedMax) {
      const some = doomedEnquiries.slice(from, from + deletedMax).map(({ reservationId }) => reservationId);
      deleted += (await call("privacy.delete", { account, orders: [], enquiries: some })).enquiries.length;
    }
    after = found.isWhole || isDeleting ? next : null;
  }
  return { json: { account, ...found, ...(isDeleting && { deleted }) }, text: textOf(found, isDeleting ? deleted : undefined) };
}

function textOf({ contacts, enquiries, members, isWhole }: Found, deleted: number | undefined): string {
  const rowOf = (id: number, contact: Fields) => [
    id,
    ...(["name", "email", "phone", "address", "note"] as const).map((field) => contact[field] ?? null),
  ];
  const rows = contacts.map(({ orderId, ...contact }) => rowOf(orderId, contact));
  const asked = enquiries.map(({ reservationId, ...contact }) => rowOf(reservationId, contact));
  const people = members as { id: number; email: string | null; role: string }[];
  const shown = people.map(({ id, email, role }) => [id, email, role]);
  return [
    contacts.length > 0 ? columns(["ORDER", "NAME", "EMAIL", "PHONE", "ADDRESS", "NOTE"], rows) : "No order has a contact of this person.",
    ...(asked.length > 0 ? [columns(["ENQUIRY", "NAME", "EMAIL", "PHONE", "ADDRESS", "NOTE"], asked)] : []),
    ...(isWhole ? [] : [`There are more: these are the first ${listedMax}.`]),
    ...(people.length > 0 ? [columns(["MEMBER", "EMAIL", "ROLE"], shown)] : []),
    ...(deleted === undefined ? [] : [`${countOf(deleted, "contact")} deleted. Backups keep what they hold until they are deleted.`]),
  ].join("\n");
}

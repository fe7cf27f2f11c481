import { listMembers } from "../callers/members/members.store.ts";
import { emailKey, memberResponse, type Member } from "../callers/members/members.ts";
import { listSessions } from "../callers/members/sessions.store.ts";
import type { Database } from "../platform/db/database.ts";
import { formatDateTime } from "../platform/http/dates.ts";
import { operatorOperation, type OperatorOperations } from "../platform/http/operation.ts";
import { Type } from "../platform/json-schema.ts";
import { deleteContacts, readContacts } from "../store/contacts/contacts.store.ts";
import { type Contact, mentions } from "../store/contacts/contacts.ts";
import { deleteEnquiryContact, readEnquiryContacts } from "../store/reservations/reservations.store.ts";
import { demandAccount, id } from "./accounts.ts";

/** The most contacts that one call reads, that one query reads, and that one call deletes. */
const readMax = 10_000;
const pageRows = 500;
const deletedMax = 500;

/** An operator's operations on what an account keeps about a person (specification 2.9). */
export const privacyOperations = {
  /**
   * Finds the contacts that are of a person or mention them, among the next 10,000. `next` is the `after` of the next call, or null. The first
   * call also finds the members with the email, or whose reset names it, and where those with it are signed in; the last one the contacts of
   * enquiries, of which a shop has few.
   */
  "privacy.find": operatorOperation(
    {
      account: id,
      email: Type.Optional(Type.String({ minLength: 1, maxLength: 254 })),
      phone: Type.Optional(Type.String({ maxLength: 50 })),
      name: Type.Optional(Type.String({ maxLength: 200 })),
      after: Type.Optional(id),
    },
    async ({ db, body: { account, after, ...person }, now }) => {
      await demandAccount(db, account);
      const isWanted = mentions(person);
      const members = after === undefined && person.email !== undefined ? await findMembers(db, account, person.email, now) : [];
      const found = [];
      let last = after ?? 0;
      for (let read = 0; read < readMax; read += pageRows) {
        const from = last;
        const page = await db.scan(() => readContacts(db, account, from, pageRows));
        for (const { orderId, contact } of page) if (isWanted(contact)) found.push({ orderId, ...contact });
        last = page.at(-1)?.orderId ?? last;
        if (page.length < pageRows) return { contacts: found, enquiries: await findEnquiries(db, account, isWanted), members, next: null };
      }
      return { contacts: found, enquiries: [], members, next: last };
    },
  ),

  /** Deletes the contacts of these orders and enquiries, and returns of which. The orders and enquiries stay. */
  "privacy.delete": operatorOperation(
    { account: id, orders: Type.Array(id, { maxItems: deletedMax }), enquiries: Type.Optional(Type.Array(id, { maxItems: deletedMax })) },
    async ({ db, body: { account, orders, enquiries = [] } }) => {
      await demandAccount(db, account);
      return db.write(async (tx) => {
        const deleted = orders.length === 0 ? [] : await deleteContacts(tx, account, orders);
        const ofEnquiries: number[] = [];
        for (const one of enquiries) if (await deleteEnquiryContact(tx, account, one)) ofEnquiries.push(one);
        return { deleted, enquiries: ofEnquiries };
      });
    },
  ),
} satisfies OperatorOperations<unknown>;

/** The contacts of enquiries that are of a person or mention them. The bounds of reservations bound how many a shop has. */
async function findEnquiries(db: Database, account: number, isWanted: (contact: Contact) => boolean) {
  const found = [];
  for (let after: number | undefined = 0; after !== undefined;) {
    const from: number = after;
    const page = await db.scan(() => readEnquiryContacts(db, account, from, pageRows));
    for (const { reservationId, contact } of page) if (contact && isWanted(contact)) found.push({ reservationId, ...contact });
    after = page.length === pageRows ? page.at(-1)?.reservationId : undefined;
  }
  return found;
}

/** The members with an email, and those whom somebody with it has reset, with their sessions. */
async function findMembers(db: Database, account: number, email: string, now: number) {
  const found = [];
  for (const member of (await listMembers(db, account)).filter(isNamedBy(email))) {
    const sessions = await db.scan(() => listSessions(db, account, member.id, now));
    found.push({ ...memberResponse(member), sessions: sessions.map(shownSession) });
  }
  return found;
}

function isNamedBy(email: string): (member: Member) => boolean {
  const key = emailKey(email);
  return (member) =>
    [member.email, member.reset?.by, member.factorsReset?.by].some((one) => typeof one === "string" && emailKey(one) === key);
}

function shownSession({ address, userAgent, createdAt, seenAt }: Awaited<ReturnType<typeof listSessions>>[number]) {
  return { address, userAgent, createdAt: formatDateTime(createdAt), seenAt: formatDateTime(seenAt) };
}

import { listMembers } from "../callers/members/members.store.ts";
import { emailKey, memberResponse, type Member } from "../callers/members/members.ts";
import { listSessions } from "../callers/members/sessions.store.ts";
import type { Database } from "../platform/db/database.ts";
import { formatDateTime } from "../platform/http/dates.ts";
import { operatorOperation, type OperatorOperations } from "../platform/http/operation.ts";
import { Type } from "../platform/json-schema.ts";
import { deleteContacts, readContacts } from "../store/contacts/contacts.store.ts";
import { mentions } from "../store/contacts/contacts.ts";
import { demandAccount, id } from "./accounts.ts";

/** The most contacts that one call reads, that one query reads, and that one call deletes. */
const readMax = 10_000;
const pageRows = 500;
const deletedMax = 500;

/** An operator's operations on what an account keeps about a person (specification 2.9). */
export const privacyOperations = {
  /**
   * Finds the contacts that are of a person or mention them, among the next 10,000. `next` is the `after` of the next call, or null. The first
   * call also finds the members with the email, or whose reset names it, and where those with it are signed in.
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
        if (page.length < pageRows) return { contacts: found, members, next: null };
      }
      return { contacts: found, members, next: last };
    },
  ),

  /** Deletes the contacts of these orders, and returns of which. The orders stay. */
  "privacy.delete": operatorOperation(
    { account: id, orders: Type.Array(id, { minItems: 1, maxItems: deletedMax }) },
    async ({ db, body: { account, orders } }) => {
      await demandAccount(db, account);
      return { deleted: await db.write((tx) => deleteContacts(tx, account, orders)) };
    },
  ),
} satisfies OperatorOperations<unknown>;

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

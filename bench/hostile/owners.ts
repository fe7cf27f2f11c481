import sql from "sql-template-tag";
import { insertSession } from "../../src/callers/members/sessions.store.ts";
import type { Database } from "../../src/platform/db/database.ts";

/** Adds owners to an account, and signs them in. Returns their cookies. */
export async function signInOwners(db: Database, accountId: number, count: number): Promise<string[]> {
  const cookies: string[] = [];
  await db.write(async (tx) => {
    for (let i = 1; i <= count; i++) {
      const email = `owner${i}@shop.example`;
      const [member] = await tx.query<{ id: number }>(sql`
        INSERT INTO members (account_id, id, email, email_key, role, salt, created_at)
        VALUES (${accountId}, nextval('member_ids'), ${email}, ${email}, 'owner', '', 0) RETURNING id`);
      const who = { accountId, memberId: member!.id };
      cookies.push(`petstore-session=${await insertSession(tx, who, { address: "127.0.0.1", userAgent: "" }, Date.now())}`);
    }
  });
  return cookies;
}

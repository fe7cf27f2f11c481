import { listAccounts } from "../callers/accounts/accounts.store.ts";
import { invite } from "../callers/members/members.store.ts";
import { invitationResponse } from "../callers/members/members.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/db/database.ts";
import { accountWanted, makeAccount } from "./accounts.ts";

/** The account of a first start, with its key and its sign-in link. The database stores only hashes of the two. */
export type FirstAccount = { account: { id: number; name: string; plan: string }; key: string; link: string };

const name = "My shop";
const plan = "business";

/**
 * Creates an account with a key and a sign-in link if there is no account yet. The transaction shows them as its last step, so a process
 * that ends before that leaves no account, and the next start creates another. If several nodes start at once, one of them creates it.
 *
 * @param show shows them before it returns
 */
export async function createFirst(
  { db, clock, publicUrl }: { db: Database; clock: Clock; publicUrl: string },
  show: (first: FirstAccount) => void,
): Promise<void> {
  await db.write(async (tx) => {
    await tx.lock("first account");
    if ((await listAccounts(tx, 0, 1)).length > 0) return;
    const made = await makeAccount(tx, accountWanted({ name, plan }), clock());
    const { link } = invitationResponse(publicUrl, await invite(tx, made.account.id, { email: null }, clock()));
    show({ ...made, link });
  });
}

import type { Transaction } from "../../platform/db/database.ts";
import type { RowLeases } from "../../platform/nodes/row-leases.ts";
import { lockClaimed, type ClaimedDomain } from "./certificate-state.store.ts";
import { NotPermitted, type Account } from "./acme.ts";

/** The account as the holder of a name uses it: once another may have taken the name, no request of it leaves any more. */
export function accountOfHolder(account: Account, leases: RowLeases, { lease }: ClaimedDomain): Account {
  return { ...account, session: { ...account.session, permit: () => leases.isHeld(lease) } };
}

/** Whoever has the name goes on having it until the transaction ends. @throws NotPermitted where that is another */
export async function demandHeld(tx: Transaction, domain: ClaimedDomain): Promise<void> {
  if ((await lockClaimed(tx, domain)) === null) throw new NotPermitted(`${domain.hostname} is held by another`);
}

import sql, { join } from "sql-template-tag";
import { createCache } from "./cache.ts";
import { andThen, type Awaitable, type Queryable, type Transaction } from "./db/database.ts";
import { statement, type Statement } from "./db/statement.ts";
import { readEventBytes } from "./event-storage.ts";
import { Problem } from "./problem.ts";

/**
 * How much each account stores, and how much it may store. The count changes in the transaction that adds or deletes the counted
 * records, and is exact under any concurrency, on one node or on many: of N concurrent additions with room for k, exactly k pass.
 *
 * PostgreSQL keeps a counted row locked until the commit is on the disk. So that the writers of one account do not wait for each
 * other, the records of an account have several rows, the stripes, each with a share of the limit. An addition or a removal is one
 * conditional statement on any of them. Where that stripe has too little room left, it locks all stripes, decides by their sums,
 * and distributes the remaining room over them again. So either no stripe is above its share, or (after the limit was lowered)
 * none has room. An addition that finds room in one stripe therefore knows that the account has as much. Published bytes change
 * rarely and have one stripe.
 *
 * Stripes are the last rows of the account that a transaction locks, so that transactions cannot deadlock on them. The record of
 * an Idempotency-Key and published changes come after them.
 */
type StorageKind = "records" | "publishedBytes";

/** The most that an account may store, by kind. */
export type StorageLimits = Record<StorageKind, number>;

export type StorageUse = { limit: number; used: number; remaining: number };

/** What an account stores, by kind. Events beyond the limit displace older ones. */
export type Storage = Record<StorageKind | "eventBytes", StorageUse>;

/** The name of each kind in the rows, and the number of its stripes: as many as the migrations make. */
const kinds: Record<StorageKind, { name: string; stripes: number }> = {
  records: { name: "records", stripes: 64 },
  publishedBytes: { name: "published_bytes", stripes: 1 },
};
const storageKinds: StorageKind[] = ["records", "publishedBytes"];

/** Room that an addition leaves in its stripe for the additions that wait for the stripe. */
const spare = 20;
const changeStripe = `UPDATE storage_quotas SET used = used + ?1 WHERE account_id = ?2 AND kind = '${kinds.records.name}' AND stripe = ?3`;
const addToStripe = statement(`${changeStripe} AND used + ?1 <= used_max - ${spare}`);
const takeFromStripe = statement(`${changeStripe} AND used < used_max`);
/** An account counts as tight until each of its stripes has this much room again. */
const roomy = 4 * spare;
/** Accounts whose stripes had too little room recently. This process uses it only to skip tries that would fail. */
const tight = createCache<number, "tight">(10_000);

/** Sets an account's limits. It keeps what it stores already, even above them. */
export async function setStorageLimits(tx: Transaction, accountId: number, limits: StorageLimits): Promise<void> {
  for (const kind of storageKinds) {
    const { name, stripes } = kinds[kind];
    const rows = Array.from({ length: stripes }, (_, stripe) => sql`(${accountId}, ${name}, ${stripe}, 0, 0)`);
    await tx.query(sql`
      INSERT INTO storage_quotas (account_id, kind, stripe, used, used_max) VALUES ${join(rows)}
      ON CONFLICT (account_id, kind, stripe) DO NOTHING`);
    const { used } = await lockStripes(tx, accountId, kind);
    await shareOut(tx, accountId, kind, 0, limits[kind] - used);
  }
}

/** What an account stores and may store. @throws Problem `unauthorized` if the account was deleted */
export async function readStorage(db: Queryable, accountId: number): Promise<Storage> {
  const [storage] = await readStorages(db, [accountId]);
  if (!storage) throw gone(accountId);
  return storage;
}

/** The same for several accounts, in their order; undefined for deleted ones. */
export async function readStorages(db: Queryable, accountIds: readonly number[]): Promise<(Storage | undefined)[]> {
  if (accountIds.length === 0) return [];
  const rows = await db.query<{ account_id: number; kind: string; used: number; used_max: number }>(sql`
    SELECT account_id, kind, SUM(used) AS used, SUM(used_max) AS used_max FROM storage_quotas
    WHERE account_id IN (${join(accountIds)}) GROUP BY account_id, kind`);
  const uses = new Map(rows.map((row) => [`${row.account_id} ${row.kind}`, useOf(row.used, row.used_max)]));
  const eventBytesOf = await readEventBytes(db, accountIds);
  return accountIds.map((id) => {
    const [records, publishedBytes] = storageKinds.map((kind) => uses.get(`${id} ${kinds[kind].name}`));
    const { log, audit, limit } = eventBytesOf(id);
    return records && publishedBytes && { records, publishedBytes, eventBytes: useOf(log + audit, limit) };
  });
}

/** Counts records that the transaction has added. @throws Problem `storage_limit_reached` if the account has no room for them */
export function addRecords(tx: Transaction, accountId: number, count: number): Awaitable<void> {
  return andThen(countInOne(tx, accountId, count, addToStripe), (isCounted) => (isCounted ? undefined : addToAll(tx, accountId, count)));
}

async function addToAll(tx: Transaction, accountId: number, count: number): Promise<void> {
  const use = await lockStripes(tx, accountId, "records");
  const room = use.limit - use.used - count;
  if (room < 0) throw noRoomForRecords(use, count);
  await shareOut(tx, accountId, "records", count, room);
}

/** Counts records that the transaction has deleted, or orders that it has completed. */
export async function removeRecords(tx: Transaction, accountId: number, count: number): Promise<void> {
  if (await countInOne(tx, accountId, -count, takeFromStripe)) return;
  const { limit, used } = await lockStripes(tx, accountId, "records");
  await shareOut(tx, accountId, "records", -count, limit - used + count);
}

/**
 * Locks the account's count of published bytes, so that no other transaction changes its published files, and counts the difference
 * that `change` makes.
 *
 * @throws Problem `storage_limit_reached` if the account has no room for it
 */
export async function changePublishedBytes(tx: Transaction, accountId: number, change: () => Promise<number>): Promise<void> {
  const use = await lockStripes(tx, accountId, "publishedBytes");
  const difference = await change();
  if (difference === 0) return;
  const room = use.limit - use.used - difference;
  if (difference > 0 && room < 0) throw noRoomForBytes(use, difference);
  await shareOut(tx, accountId, "publishedBytes", difference, room);
}

/**
 * Counts bytes again that this transaction has moved to another table: the database has stopped counting them with the rows that were deleted. They
 * take up as much as before, so no limit refuses them.
 */
export async function countMovedBytes(tx: Transaction, accountId: number, bytes: number): Promise<void> {
  if (bytes === 0) return;
  await tx.query(sql`
    UPDATE storage_quotas SET used = used + ${bytes} WHERE account_id = ${accountId} AND kind = ${kinds.publishedBytes.name}`);
}

/**
 * Counts records in one stripe, if the stripe has room for them. A transaction that waited for a stripe and found no room in it still holds
 * its lock. Locking all stripes could then deadlock, so the transaction starts over without the lock.
 */
function countInOne(tx: Transaction, accountId: number, count: number, ifRoom: Statement): Awaitable<boolean> {
  if (tight.peek(accountId)) return false;
  const stripe = Math.floor(Math.random() * kinds.records.stripes);
  return andThen(tx.run(ifRoom, [count, accountId, stripe]), (changed) => {
    if (changed > 0) return true;
    tight.set(accountId, "tight");
    tx.startOver();
    return false;
  });
}

async function lockStripes(tx: Transaction, accountId: number, kind: StorageKind): Promise<StorageUse> {
  const rows = await tx.query<{ used: number; used_max: number }>(sql`
    SELECT used, used_max FROM storage_quotas
    WHERE account_id = ${accountId} AND kind = ${kinds[kind].name} ORDER BY stripe${tx.forUpdate}`);
  if (rows.length === 0) throw gone(accountId);
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + of(row), 0);
  return useOf(
    sum((row) => row.used),
    sum((row) => row.used_max),
  );
}

/** Counts `added`, and divides the room, which may be negative, equally between the stripes. The caller has locked them. */
async function shareOut(tx: Transaction, accountId: number, kind: StorageKind, added: number, room: number): Promise<void> {
  const { name, stripes } = kinds[kind];
  const share = Math.trunc(room / stripes);
  const rest = room - share * stripes;
  if (kind === "records" && share >= roomy) tight.delete(accountId);
  await tx.query(sql`
    UPDATE storage_quotas SET
      used = CASE stripe WHEN 0 THEN used + ${added} ELSE used END,
      used_max = CASE stripe WHEN 0 THEN used + ${added + share + rest} ELSE used + ${share} END
    WHERE account_id = ${accountId} AND kind = ${name}`);
}

function useOf(used: number, limit: number): StorageUse {
  return { limit, used, remaining: Math.max(0, limit - used) };
}

function gone(accountId: number): Problem {
  return new Problem("unauthorized", `Account ${accountId} has been deleted.`);
}

function noRoomForRecords({ limit, used }: StorageUse, count: number): Problem {
  const [stored, most, added] = [used, limit, count].map((value) => value.toLocaleString("en"));
  return new Problem(
    "storage_limit_reached",
    `The account stores ${stored} records (pets, those in the bin, categories and open orders) and may store ${most}: ` +
      `there is no room for ${added} more. Delete some, or ask for a higher limit.`,
  );
}

/** The refusal of published files that would take up this many more bytes. With 0 the message names no number. */
export function noRoomForBytes({ limit, used }: StorageUse, bytes: number): Problem {
  const more = bytes === 0 ? "there is no room for more" : `there is no room for ${inMiB(bytes, Math.ceil)} more`;
  return new Problem(
    "storage_limit_reached",
    `The account's published files take up ${inMiB(used, Math.ceil)} and may take up ${inMiB(limit, Math.floor)}: ${more}. ` +
      "Publish less, delete a project, or ask for a higher limit.",
  );
}

/** Rounded to a tenth so that the figures of a refusal never seem to fit. */
function inMiB(bytes: number, round: (value: number) => number): string {
  return `${(round((bytes / 1_048_576) * 10) / 10).toLocaleString("en")} MiB`;
}

import sql from "sql-template-tag";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import type { RowClaim, RowLease } from "../../platform/nodes/row-leases.ts";
import { NotPermitted } from "../acme/acme-problem.ts";
import type { CertificateOrderStore } from "./certificate-order.ts";
import type { StoredCertificateOrder } from "./certificate-orders.store.ts";

/** A certificate of the host of PUBLIC_URL. `key` is encrypted for the host name; `number` counts the host's certificates up to this one. */
export type OwnCertificate = {
  number: number;
  chain: string;
  key: string;
  notBefore: number;
  notAfter: number;
  renewalId: string | null;
  /** When the host got its first certificate. */
  firstIssuedAt: number;
  /** The authority that issued it. */
  directoryUrl: string | null;
  /** Whether the operator asked for one of the configured authority in its place. */
  replaceAsked: boolean;
};

/** The work on the host's certificate, leased by this process. */
export type OwnWork = { hostname: string; certificate: OwnCertificate | null; failures: number; lease: RowLease };

type OwnRow = {
  hostname: string;
  number: number;
  chain: string | null;
  key: string | null;
  not_before: number | null;
  not_after: number | null;
  renewal_id: string | null;
  first_issued_at: number | null;
  directory_url: string | null;
  replace_asked: boolean | number;
  failures: number;
};

export async function findOwnCertificate(db: Queryable, hostname: string): Promise<OwnCertificate | null> {
  const [row] = await db.query<OwnRow>(sql`SELECT * FROM own_certificates WHERE hostname = ${hostname}`);
  return row ? certificateOf(row) : null;
}

/**
 * Adds a host, due now or, if it has a hold, at `heldUntil` (ms). If the host was added before and has no certificate yet, brings a later due
 * time forward to that moment, because the operator may have corrected something before this start.
 */
export async function addOwnHost(db: Database, hostname: string, now: number, heldUntil: number | null): Promise<void> {
  const dueAt = heldUntil ?? now;
  await db.write((tx) =>
    tx.query(sql`
      INSERT INTO own_certificates (hostname, number, failures, due_at) VALUES (${hostname}, 0, 0, ${dueAt})
      ON CONFLICT (hostname) DO UPDATE SET due_at = CASE
        WHEN own_certificates.chain IS NULL AND own_certificates.due_at > excluded.due_at THEN excluded.due_at
        ELSE own_certificates.due_at END`),
  );
}

/** Leases the work on the host, if it is due. */
export async function claimOwn(tx: Transaction, hostname: string, { lease, now, isFree }: RowClaim): Promise<OwnWork[]> {
  const rows = await tx.query<OwnRow>(sql`
    UPDATE own_certificates SET lease_until = ${lease.until}, lease_id = ${lease.leaseId}
    WHERE hostname = ${hostname} AND due_at <= ${now} AND ${isFree(sql`lease_until`, sql`lease_id`)} RETURNING *`);
  return rows.map((row) => ({ hostname, certificate: certificateOf(row), failures: row.failures, lease }));
}

/** The certificate-order store of a leased host. */
export function ownOrderStore(work: OwnWork): CertificateOrderStore {
  const { hostname } = work;
  const find = async (db: Queryable, lock = sql``): Promise<StoredCertificateOrder | null> => {
    const [row] = await db.query<{ directory_url: string | null; url: string | null; key: string | null; failures: number }>(sql`
      SELECT order_directory_url AS directory_url, order_url AS url, order_key AS key, failures
      FROM own_certificates WHERE hostname = ${hostname}${lock}`);
    return row ? { directoryUrl: row.directory_url ?? "", url: row.url, key: row.key, failures: row.failures } : null;
  };
  return {
    find: (db) => find(db),
    lock: (tx) => find(tx, tx.forUpdate),
    requireLease: async (tx) => {
      if (!(await holdsLease(tx, work))) throw new NotPermitted(`the lease of ${hostname} was lost`);
    },
    save: async (tx, { directoryUrl, url, key }) => {
      await tx.query(sql`
        UPDATE own_certificates SET order_directory_url = ${directoryUrl}, order_url = ${url}, order_key = ${key}
        WHERE hostname = ${hostname}`);
    },
    saveUrl: async (tx, { key, url }) => {
      const rows = await tx.query(sql`
        UPDATE own_certificates SET order_url = ${url} WHERE hostname = ${hostname} AND order_key = ${key} RETURNING 1`);
      return rows.length > 0;
    },
    saveChallenge: async (tx, one) => {
      await tx.query(sql`
        INSERT INTO own_challenges (hostname, type, token, key_authorization, certificate, certificate_key, expires_at)
        VALUES (${hostname}, ${one.type}, ${one.token}, ${one.keyAuthorization}, ${one.certificate}, ${one.certificateKey}, ${one.expiresAt})
        ON CONFLICT (hostname, type) DO UPDATE SET token = excluded.token, key_authorization = excluded.key_authorization,
          certificate = excluded.certificate, certificate_key = excluded.certificate_key, expires_at = excluded.expires_at`);
    },
  };
}

/** Saves a new certificate and the host's next due time, and ends the lease. Returns false, and saves nothing, if the lease was lost. */
export async function saveOwnCertificate(
  tx: Transaction,
  work: OwnWork,
  {
    chain,
    key,
    notBefore,
    notAfter,
    renewalId,
    firstIssuedAt,
    directoryUrl,
    dueAt,
  }: Omit<OwnCertificate, "number" | "replaceAsked"> & { dueAt: number },
): Promise<boolean> {
  const { hostname } = work;
  if (!(await holdsLease(tx, work))) return false;
  await tx.query(sql`
    UPDATE own_certificates SET number = number + 1, chain = ${chain}, key = ${key}, not_before = ${notBefore}, not_after = ${notAfter},
      renewal_id = ${renewalId}, directory_url = ${directoryUrl}, replace_asked = FALSE, first_issued_at = ${firstIssuedAt}, order_url = NULL, order_key = NULL, failures = 0, problem = NULL,
      due_at = ${dueAt}, lease_until = NULL
    WHERE hostname = ${hostname}`);
  await tx.query(sql`DELETE FROM own_challenges WHERE hostname = ${hostname}`);
  return true;
}

/**
 * Saves how the work ended without a new certificate, and ends the lease. `isOver`: the order has failed for good, so this deletes the order and its
 * challenges. Does nothing if the lease was lost.
 */
export async function saveOwnOutcome(
  tx: Transaction,
  work: OwnWork,
  { problem, failures, dueAt, isOver }: { problem: string | null; failures: number; dueAt: number; isOver: boolean },
): Promise<void> {
  const { hostname } = work;
  if (!(await holdsLease(tx, work))) return;
  await tx.query(sql`
    UPDATE own_certificates SET problem = ${problem}, failures = ${failures}, due_at = ${dueAt}, lease_until = NULL
    WHERE hostname = ${hostname}`);
  if (!isOver) return;
  await tx.query(sql`UPDATE own_certificates SET order_url = NULL, order_key = NULL WHERE hostname = ${hostname}`);
  await tx.query(sql`DELETE FROM own_challenges WHERE hostname = ${hostname}`);
}

async function holdsLease(tx: Transaction, { hostname, lease }: OwnWork): Promise<boolean> {
  const rows = await tx.query(sql`
    SELECT 1 FROM own_certificates WHERE hostname = ${hostname} AND lease_until = ${lease.until} AND lease_id = ${lease.leaseId}${tx.forUpdate}`);
  return rows.length > 0;
}

function certificateOf(row: OwnRow): OwnCertificate | null {
  const { number, chain, key, not_before: notBefore, not_after: notAfter, renewal_id: renewalId, first_issued_at: firstIssuedAt } = row;
  if (chain === null || key === null || notBefore === null || notAfter === null || firstIssuedAt === null) return null;
  const { directory_url: directoryUrl, replace_asked: replaceAsked } = row;
  return { number, chain, key, notBefore, notAfter, renewalId, firstIssuedAt, directoryUrl, replaceAsked: Boolean(replaceAsked) };
}

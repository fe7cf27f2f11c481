import sql from "sql-template-tag";
import { dayMs } from "../../platform/clock.ts";
import { writeInBatches } from "../../platform/db/batches.ts";
import { type Database, type Transaction, type Queryable } from "../../platform/db/database.ts";
import { walkRows } from "../../platform/db/index-walk.ts";
import { identityFromRow, type StoredDomain } from "./domains.store.ts";
import { provedElsewhere, type DomainProblem } from "./troubles.ts";

/** How long a lost name is shown. */
const shownMs = 30 * dayMs;

type LostRow = Record<string, number | string | null>;

/** Keeps a name that another account takes over visible to the account that loses it. The caller deletes the name from `domains`. */
export async function insertLost(tx: Transaction, domain: StoredDomain, now: number): Promise<void> {
  const { accountId, id, projectId, hostname, registrableDomain, kind, version, createdAt, verifiedAt } = domain;
  await tx.query(sql`
    INSERT INTO lost_domains (account_id, id, project_id, hostname, registrable_domain, kind, problems, version, created_at, verified_at, lost_at)
    VALUES (${accountId}, ${id}, ${projectId}, ${hostname}, ${registrableDomain}, ${kind},
      ${JSON.stringify([provedElsewhere(hostname)])}, ${version + 1}, ${createdAt}, ${verifiedAt}, ${now})`);
}

export async function listLost(db: Database, accountId: number, projectId: number, after: number, limit: number): Promise<StoredDomain[]> {
  const walk = { table: "lost_domains", index: "lost_domains_by_project", columns: sql`*`, accountId, equal: { project_id: projectId } };
  const rows = await db.query<LostRow>(walkRows(db.engine, { ...walk, order: ["id"], after: [after] }, limit));
  return rows.map(fromRow);
}

export async function findLost(db: Queryable, accountId: number, projectId: number, hostname: string): Promise<StoredDomain | null> {
  const [row] = await db.query<LostRow>(sql`
    SELECT * FROM lost_domains WHERE account_id = ${accountId} AND project_id = ${projectId} AND hostname = ${hostname}`);
  return row ? fromRow(row) : null;
}

/** Deletes a lost name. Returns whether there was one. */
export async function deleteLost(tx: Transaction, accountId: number, hostname: string): Promise<boolean> {
  const rows = await tx.query(sql`DELETE FROM lost_domains WHERE account_id = ${accountId} AND hostname = ${hostname} RETURNING 1`);
  return rows.length > 0;
}

/** Deletes the names that were lost more than 30 days ago. */
export async function deleteOldLost(db: Database, now: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`
    DELETE FROM lost_domains WHERE (account_id, hostname) IN
      (SELECT account_id, hostname FROM lost_domains WHERE lost_at <= ${now - shownMs} ${limit}) RETURNING 1`,
  );
}

/** Returns a lost name as a domain that serves nothing, has no certificate and is not checked. */
function fromRow(row: LostRow): StoredDomain {
  const none = {
    id: null,
    status: "none",
    issuedAt: null,
    expiresAt: null,
    problem: null,
    retryAt: null,
    wantedSince: null,
    dueAt: null,
  } as const;
  return {
    ...identityFromRow(row),
    status: "failing",
    primary: false,
    becomesPrimary: false,
    redirect: null,
    problems: JSON.parse(String(row["problems"])) as DomainProblem[],
    caa: "unknown",
    proofNeeded: true,
    nextCheckAt: null,
    certificate: none,
    version: Number(row["version"]),
    createdAt: Number(row["created_at"]),
    firstVerifiedAt: null,
    verifiedAt: row["verified_at"] as number | null,
    isLost: true,
  };
}

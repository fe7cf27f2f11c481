import sql from "sql-template-tag";
import { writeInBatches } from "../../platform/db/batches.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";

/**
 * For this long, only its former account may take a freed slug: browsers keep the site's pages and service workers, and
 * its certificates stay valid.
 */
const keptMs = 30 * 86_400_000;
/** The most slugs kept for one account; a further one replaces the one that was freed first. */
const keptMax = 1_000;

/** Keeps the slug of a project for its account, in the transaction that deletes or renames the project. */
export async function keepSlug(tx: Transaction, accountId: number, projectId: number, now: number): Promise<void> {
  await tx.query(sql`
    INSERT INTO freed_slugs (slug, account_id, freed_at)
    SELECT slug, account_id, CAST(${now} AS BIGINT) FROM projects WHERE account_id = ${accountId} AND id = ${projectId}
    ON CONFLICT (slug) DO UPDATE SET account_id = excluded.account_id, freed_at = excluded.freed_at`);
  await tx.query(sql`
    DELETE FROM freed_slugs WHERE account_id = ${accountId}
      AND ${keptMax} < (SELECT COUNT(*) FROM freed_slugs WHERE account_id = ${accountId})
      AND slug = (SELECT slug FROM freed_slugs WHERE account_id = ${accountId} ORDER BY freed_at, slug LIMIT 1)`);
}

/**
 * Whether a slug is kept for another account. Call it in the transaction that takes the slug, after taking it: a transaction that frees
 * the slug at the same time has committed by then.
 */
export async function isKeptForAnother(tx: Transaction, slug: string, accountId: number, now: number): Promise<boolean> {
  const rows = await tx.query(sql`
    SELECT 1 FROM freed_slugs WHERE slug = ${slug} AND account_id <> ${accountId} AND freed_at > ${now - keptMs}`);
  return rows.length > 0;
}

/** Deletes the slugs that were freed more than 30 days ago. */
export async function deleteOldFreedSlugs(db: Database, now: number): Promise<void> {
  await writeInBatches(
    db,
    (limit) => sql`
    DELETE FROM freed_slugs WHERE slug IN (SELECT slug FROM freed_slugs WHERE freed_at <= ${now - keptMs} ${limit}) RETURNING 1`,
  );
}

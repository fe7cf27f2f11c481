import sql, { raw } from "sql-template-tag";
import type { Database, Transaction } from "../../src/platform/db/database.ts";

export const start = Date.UTC(2026, 0, 1);

/** More rows than one transaction of the deletion takes. */
export async function fill(db: Database, account: number): Promise<void> {
  await db.write(async (tx) => {
    await tx.query(sql`INSERT INTO categories (account_id, id, name, name_key, version) VALUES (${account}, 1, 'Dogs', 'dogs', 1)`);
    for (let id = 1; id <= 2_001; id++) {
      await tx.query(sql`INSERT INTO pets (account_id, id, name, name_key, category_id, status, version)
        VALUES (${account}, ${id}, 'Rex the Second', 'rex the second', 1, 'available', 1)`);
    }
    for (let position = 1_001; position <= 2_001; position++) {
      await tx.query(sql`INSERT INTO events (account_id, position, type, at, resource, actor, text, hash)
        VALUES (${account}, ${position}, 'pet.created', 0, 'pet/1', 'key/1', '{}', '')`);
    }
    await tx.query(sql`INSERT INTO event_starts (account_id, position, previous_hash) VALUES (${account}, 1, '')`);
    await tx.query(
      sql`INSERT INTO audit_storage (account_id, day, type, bytes, last_position) VALUES (${account}, 0, 'key.created', 300, 0)`,
    );
    await tx.query(sql`INSERT INTO event_outbox (id, account_id, type, at, resource, actor, head, tail)
      VALUES (${account}, ${account}, 'pet.created', 0, 'pet/1', 'key/1', '', '')`);
    await tx.query(
      sql`INSERT INTO inventory (account_id, pet_id, quantity, held, status, version) VALUES (${account}, 1, 5, 0, 'available', 1)`,
    );
    await tx.query(
      sql`INSERT INTO orders (account_id, id, pet_id, quantity, held, complete, version) VALUES (${account}, 1, 1, 1, 0, FALSE, 1)`,
    );
    await tx.query(sql`INSERT INTO contacts (account_id, order_id, name, version) VALUES (${account}, 1, 'Ann Smith', 1)`);
    await tx.query(sql`INSERT INTO reservations (account_id, id, pet_id, order_id, state, link_hash, lapses_at, created_at, version)
      VALUES (${account}, 1, 1, 1, 'open', 'link', ${start}, ${start}, 1)`);
    await tx.query(sql`INSERT INTO profiles (account_id, pet_id, version) VALUES (${account}, 1, 1)`);
    await tx.query(sql`INSERT INTO facts (account_id, pet_id, fact, value, value_key, category_id, status)
      VALUES (${account}, 1, 'breed', 'Beagle', 'beagle', 1, 'available')`);
    await insertCalls(tx, account);
    await tx.query(sql`INSERT INTO members (account_id, id, email, email_key, role, salt, created_at)
      VALUES (${account}, 1, 'a@a.example', 'a@a.example', 'owner', 's', ${start})`);
    await tx.query(sql`INSERT INTO sign_in_links (account_id, member_id, hash, expires_at)
      VALUES (${account}, 1, ${`link ${account}`}, ${start})`);
    await tx.query(sql`INSERT INTO authenticator_apps (account_id, member_id, secret, used_step, wrong, wrong_since)
      VALUES (${account}, 1, 'v1.', 0, 0, 0)`);
    await tx.query(sql`INSERT INTO recovery_codes (account_id, member_id, hash) VALUES (${account}, 1, ${`code ${account}`})`);
    await tx.query(sql`INSERT INTO passkeys (account_id, member_id, credential_id, public_key, counter, transports, user_handle, rp_id, name, created_at)
      VALUES (${account}, 1, ${`passkey ${account}`}, 'k', 0, '', 'h', 'localhost', 'Phone', ${start})`);
    await tx.query(sql`INSERT INTO pending_sign_ins (account_id, member_id, hash, expires_at)
      VALUES (${account}, 1, ${`pending ${account}`}, ${start})`);
    await tx.query(sql`INSERT INTO sessions (account_id, id, member_id, hash, address, user_agent, created_at, seen_at)
      VALUES (${account}, 1, 1, ${`session ${account}`}, '192.0.2.1', 'Test', ${start}, ${start})`);
    await tx.query(sql`INSERT INTO webhooks (account_id, id, url, types, description, ordered, owner, secret, enabled, position, replays, failures,
        takes_new, version, created_at)
      VALUES (${account}, 1, 'https://a.example/', '["*"]', '', FALSE, 'o', 's', TRUE, 0, 0, 0, TRUE, 1, ${start})`);
    await tx.query(sql`INSERT INTO webhook_deliveries (account_id, webhook_id, id, message_id, type, status, attempts, give_up_at, created_at)
      VALUES (${account}, 1, 1, 'm', 'pet.created', 'failed', 1, 0, ${start})`);
    await addPhotos(tx, account);
    await publish(tx, account);
    await importAnimals(tx, account);
  });
}

/** What calls left, and a view that a member saved. */
async function insertCalls(tx: Transaction, account: number): Promise<void> {
  await tx.query(sql`INSERT INTO usage (account_id, step, kind, start, name, requests, refused, banned)
    VALUES (${account}, 60000, 'key', ${start}, '1', 1, 0, 0)`);
  await tx.query(sql`INSERT INTO request_log (account_id, position, key_id, method, route, status)
    VALUES (${account}, ${start * 1_000}, 1, 'GET', '/v1/pets', 200)`);
  await tx.query(
    sql`INSERT INTO saved_views (account_id, id, list, name, query) VALUES (${account}, 1, 'orders', 'Open', '{"complete":false}')`,
  );
  await tx.query(sql`INSERT INTO page_views (account_id, day, views) VALUES (${account}, 20000, 3)`);
  await tx.query(sql`INSERT INTO idempotency (account_id, target, key, body_hash, status, headers, created_at)
    VALUES (${account}, 'POST /v1/pets', 'k', 'h', 201, '{}', ${start})`);
}

/** A photo, and an animal in the bin with another one. */
async function addPhotos(tx: Transaction, account: number): Promise<void> {
  await tx.query(sql`INSERT INTO photos (account_id, id, pet_id, place, alt) VALUES (${account}, 1, 1, 0, '')`);
  await tx.query(sql`INSERT INTO photo_files (account_id, photo_id, type, width, height, hash, bytes)
    VALUES (${account}, 1, 'image/webp', 1, 1, ${`photo${account}`}, 1)`);
  await tx.query(sql`INSERT INTO bin (account_id, pet_id, deleted_at, name, category_id, status, version, profile_version)
    VALUES (${account}, 3001, ${start}, 'Rex', 1, 'available', 1, 1)`);
  await tx.query(sql`INSERT INTO bin_photo_files (account_id, pet_id, photo_id, place, alt, type, width, height, hash, bytes)
    VALUES (${account}, 3001, 2, 0, '', 'image/webp', 1, 1, ${`binned${account}`}, 1)`);
}

/** A source with an import, which made an animal and has yet to fetch its photo. */
async function importAnimals(tx: Transaction, account: number): Promise<void> {
  await tx.query(sql`INSERT INTO import_sources (account_id, id, name, name_key) VALUES (${account}, ${account}, 'Shelter', 'shelter')`);
  await tx.query(sql`INSERT INTO imports (account_id, id, source_id, file_name, status, created, updated, unchanged, rejected, categories, actor, started_at,
      stays, stays_listed, version)
    VALUES (${account}, ${account}, ${account}, 'a.csv', 'open', 1, 0, 0, 0, '[]', '{}', ${start}, 0, '[]', 1)`);
  await tx.query(sql`INSERT INTO imported_pets (account_id, source_id, row_id, pet_id, import_id, row_values)
    VALUES (${account}, ${account}, '1', 1, ${account}, '{}')`);
  await tx.query(
    sql`INSERT INTO import_changes (account_id, import_id, pet_id, row_id, is_new) VALUES (${account}, ${account}, 1, '1', TRUE)`,
  );
  await tx.query(sql`INSERT INTO import_photos (account_id, pet_id, place, import_id, url, attempts, due_at)
    VALUES (${account}, 1, 0, ${account}, 'https://a.example/', 0, ${start})`);
}

/** A project with a deployment, and a domain with its certificate. */
async function publish(tx: Transaction, account: number): Promise<void> {
  const host = `www.shop${account}.test`;
  await tx.query(sql`INSERT INTO projects (account_id, id, name, slug, version, created_at)
    VALUES (${account}, ${account}, 'Rex', ${`rex${account}`}, 1, ${start})`);
  await tx.query(sql`INSERT INTO deployments (account_id, id, project_id, status, files, bytes, version, created_at)
    VALUES (${account}, ${account}, ${account}, 'ready', 1, 1, 1, ${start})`);
  await tx.query(sql`INSERT INTO deployment_turns (account_id, number) VALUES (${account}, ${account})`);
  await tx.query(sql`INSERT INTO files (account_id, deployment_id, hash) VALUES (${account}, ${account}, ${`hash${account}`})`);
  await tx.query(sql`INSERT INTO domains (account_id, id, project_id, hostname, registrable_domain, kind, status, is_primary, problems, caa,
      proof_needed, certificate_status, version, created_at)
    VALUES (${account}, ${account}, ${account}, ${host}, ${`shop${account}.test`}, 'subdomain', 'verified', TRUE, '[]', 'allowed', FALSE,
      'issued', 1, ${start})`);
  await tx.query(
    sql`INSERT INTO domain_links (account_id, hostname, token_hash, expires_at) VALUES (${account}, ${host}, ${`link ${account}`}, 9)`,
  );
  await tx.query(sql`INSERT INTO domain_troubles (account_id, hostname, troubles) VALUES (${account}, ${host}, 'dns_wrong')`);
  await tx.query(sql`INSERT INTO lost_domains (account_id, id, project_id, hostname, registrable_domain, kind, problems, version, created_at, lost_at)
    VALUES (${account}, ${account}, ${account}, ${`lost${account}.test`}, ${`lost${account}.test`}, 'apex', '[]', 1, ${start}, ${start})`);
  await tx.query(sql`INSERT INTO certificates (account_id, id, hostname, chain, key, not_before, not_after, renew_at)
    VALUES (${account}, ${account}, ${host}, 'chain', 'key', ${start}, ${start}, ${start})`);
  await tx.query(
    sql`INSERT INTO certificate_orders (account_id, hostname, directory_url, failures) VALUES (${account}, ${host}, 'https://ca.test', 0)`,
  );
  await tx.query(sql`INSERT INTO challenges (account_id, hostname, type, token, key_authorization, expires_at)
    VALUES (${account}, ${host}, 'http-01', 'token', 'authorization', ${start})`);
}

/**
 * Counts an account's rows in every table with an account_id. Two tables keep their rows on purpose: who verified which name, so that a
 * DNS record that outlives its account serves no other one, and the slugs that rest for 30 days. The row of `folded_names` is no account's, and
 * the certificate of the service's own host is that of account 0, which no customer has.
 */
export async function rowsOf(db: Database, account: number): Promise<Record<string, number>> {
  const tables = await db.query<{ name: string }>(sql`
    SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'account_id'
      AND m.name NOT IN ('verifications', 'freed_slugs', 'folded_names', 'own_challenges')
      AND m.name NOT LIKE 'service_%'`);
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const rows = await db.query<{ n: number }>(sql`SELECT count(*) AS n FROM ${raw(name)} WHERE account_id = ${account}`);
    counts[name] = Number(rows[0]?.n);
  }
  return counts;
}

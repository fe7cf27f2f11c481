import sql from "sql-template-tag";
import type { Database } from "../../src/platform/db/database.ts";
import { runs } from "./fault-runs.ts";

/** So many rows that a list which reads all of an account's is far beyond what it may read. */
export const many = runs(8_000, 20_000);
export const [accountId, neighbour] = [1, 2];

const importColumns =
  "account_id, id, source_id, file_name, status, created, updated, unchanged, rejected, categories, actor, started_at, stays, stays_listed, version";
const reservationColumns = "reservations (account_id, id, pet_id, state, link_hash, created_at, version)";
/** Fills a table and its columns with the values of these expressions, in so many rows. */
type Fill = (table: string, columns: string, count?: number) => Promise<void>;
const upTo = (count: number): string => `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;

/** A few rows of every kind, distributed evenly. */
export async function fillEvenly(db: Database): Promise<void> {
  const [few, shop] = [300, 3];
  await db.write(async (tx) => {
    await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (${shop}, 'Even', 'pro', 0)`);
    const rows = (table: string, columns: string) => tx.script(`INSERT INTO ${table} ${upTo(few)} SELECT ${shop}, ${columns} FROM n`);
    await rows("categories (account_id, id, name, name_key, description, version)", "i, 'even ' || i, 'even ' || i, NULL, 1");
    await rows(
      "pets (account_id, id, name, name_key, category_id, status, version)",
      "i, 'even ' || i, 'even ' || i, 1 + i % 100, CASE i % 3 WHEN 0 THEN 'sold' WHEN 1 THEN 'pending' ELSE 'available' END, 1",
    );
    await rows("profiles (account_id, pet_id, version)", "i, 1");
    await rows(
      "facts (account_id, pet_id, fact, value, value_key, category_id, status)",
      "i, 'breed', 'Even', 'even ' || i % 5, 1 + i % 100, CASE i % 3 WHEN 0 THEN 'sold' WHEN 1 THEN 'pending' ELSE 'available' END",
    );
    await rows("inventory (account_id, pet_id, quantity, held, status, version)", "i, 1, 0, 'available', 1");
    await rows("orders (account_id, id, pet_id, quantity, held, complete, version)", "i, i, 1, 0, i % 2 = 0, 1");
    await rows(reservationColumns, "i, i, CASE i % 2 WHEN 0 THEN 'open' ELSE 'lapsed' END, 'even ' || i, 0, 1");
    await rows("import_sources (account_id, id, name, name_key)", "i, 'even ' || i, 'even ' || i");
    await rows(`imports (${importColumns})`, "i, 1 + i % 10, '', 'open', 1, 0, 0, 0, '[]', 'system', 0, 0, '[]', 1");
    await rows("imported_pets (account_id, source_id, row_id, pet_id, import_id, row_values)", "1 + i % 10, i, i, i, '{}'");
    await rows("import_changes (account_id, import_id, pet_id, row_id, is_new)", "1 + i % 10, i, i, TRUE");
    await rows("keys (account_id, id, hash, prefix, publishable, scopes, created_at)", `i + 1000000, '${shop} ' || i, 'psk', FALSE, '', 0`);
    await rows(
      `webhooks (account_id, id, url, types, description, ordered, owner, secret, enabled, position, replays, failures, takes_new, version,
        created_at)`,
      `i, '', '["*"]', '', FALSE, '', '', TRUE, 0, 0, 0, TRUE, 1, 0`,
    );
    await rows(
      "webhook_deliveries (account_id, webhook_id, id, message_id, type, request_id, status, attempts, give_up_at, created_at)",
      "1 + i % 10, i, i, 'order.created', i % 100, CASE i % 3 WHEN 0 THEN 'failed' WHEN 1 THEN 'pending' ELSE 'delivered' END, 1, 0, 0",
    );
  });
}

export async function fill(db: Database): Promise<void> {
  await db.write(
    async (tx) => {
      for (const id of [accountId, neighbour]) {
        await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (${id}, 'Shop', 'pro', 0)`);
        const first = (id - 1) * many;
        const rows = (table: string, columns: string, count = many) =>
          tx.script(
            `INSERT INTO ${table} ${upTo(count)} SELECT ${id}, ${columns} FROM (SELECT i AS nth, i + ${first} AS i FROM n) AS numbered`,
          );
        const rare = `nth > ${many - 10}`;
        const status = `CASE WHEN ${rare} THEN 'pending' WHEN nth % 25 = 0 THEN 'sold' ELSE 'available' END`;
        const name = `CASE WHEN nth % 2 = 0 THEN 'rex' WHEN nth % 4 = 1 THEN 'rex ' || (nth * 7919 % 300)
        ELSE 'rex rex' || (nth * 7919 % 300) END`;
        await rows("categories (account_id, id, name, name_key, description, version)", "i, 'Kind ' || i, 'kind ' || i, NULL, 1");
        await rows(
          "pets (account_id, id, name, name_key, category_id, status, version)",
          `i, ${name}, ${name}, ${first} + CASE WHEN ${rare} THEN 7 WHEN nth % 9 = 0 THEN 1 + nth % 50 ELSE 1 END, ${status}, 1`,
        );
        await rows("profiles (account_id, pet_id, version)", "i, 1");
        await rows(
          "facts (account_id, pet_id, fact, value, value_key, category_id, status)",
          `i, 'breed', '', CASE WHEN ${rare} THEN 'zz' ELSE 'rex' END,
          ${first} + CASE WHEN ${rare} THEN 7 WHEN nth % 9 = 0 THEN 1 + nth % 50 ELSE 1 END, ${status}`,
        );
        await rows("inventory (account_id, pet_id, quantity, held, status, version)", `i, 1, 0, ${status}, 1`);
        const pet = `${first} + CASE WHEN ${rare} THEN 7 ELSE 1 END`;
        await rows("orders (account_id, id, pet_id, quantity, held, complete, version)", `i, ${pet}, 1, 0, ${rare}, 1`);
        await rows(
          reservationColumns,
          `i, ${pet}, CASE WHEN ${rare} THEN 'open' WHEN nth % 25 = 0 THEN 'refused' ELSE 'lapsed' END, 'link ' || i, 0, 1`,
        );
        await fillImports(rows, first);
        await rows("projects (account_id, id, name, slug, version, created_at)", "i, 'Site', 'site-' || i, 1, 0", 300);
        const project = `${first} + CASE WHEN nth % 10 = 0 THEN 1 ELSE 2 + nth % 200 END`;
        await rows(
          "deployments (account_id, id, project_id, status, files, bytes, version, created_at)",
          `i, ${project}, 'ready', 1, 1, 1, 0`,
        );
        await rows(
          `domains (account_id, id, project_id, hostname, registrable_domain, kind, status, is_primary, problems, caa, proof_needed,
          certificate_status, version, created_at)`,
          `i, ${project}, 'www.shop-' || i || '.example', 'shop-' || i || '.example', 'subdomain', 'verified', FALSE, '[]', 'allowed', FALSE,
          'none', 1, 0`,
        );
        await rows("keys (account_id, id, hash, prefix, publishable, scopes, created_at)", `i, '${id} ' || i, 'psk', FALSE, '', 0`);
        await fillWebhooks(rows, first);
      }
    },
    { statementMs: 60_000 },
  );
}

/** Webhooks, of which one has nearly all deliveries. */
async function fillWebhooks(rows: Fill, first: number): Promise<void> {
  const rare = `nth > ${many - 10}`;
  await rows(
    `webhooks (account_id, id, url, types, description, ordered, owner, secret, enabled, position, replays, failures, takes_new, version,
    created_at)`,
    "i, 'https://hooks.example', '[\"*\"]', '', FALSE, '', '', TRUE, 0, 0, 0, TRUE, 1, 0",
    300,
  );
  const delivery = `CASE WHEN ${rare} THEN 'failed' WHEN nth % 25 = 0 THEN 'pending' ELSE 'delivered' END`;
  await rows(
    "webhook_deliveries (account_id, webhook_id, id, message_id, type, request_id, status, attempts, give_up_at, created_at)",
    `${first} + CASE WHEN nth % 10 = 0 THEN 2 + nth % 200 ELSE 1 END, i, 'evt_' || i, 'order.created', CASE WHEN ${rare} THEN 'zz' ELSE 'rex' END, ${delivery}, 1, 0, 0`,
  );
}

/** Imports of two sources, of which one made nearly all pets. */
async function fillImports(rows: Fill, first: number): Promise<void> {
  const rare = `nth > ${many - 10}`;
  const source = "CASE nth WHEN 1 THEN 'rex' WHEN 2 THEN 'zz' ELSE 'source ' || i END";
  await rows("import_sources (account_id, id, name, name_key)", `i, ${source}, ${source}`, 50);
  const ofSource = `${first} + CASE WHEN ${rare} THEN 2 ELSE 1 END`;
  await rows(`imports (${importColumns})`, `i, ${ofSource}, '', 'open', 1, 0, 0, 0, '[]', 'system', 0, 0, '[]', 1`);
  const id = "CASE nth WHEN 1 THEN 'rex' ELSE 'rex' || nth END";
  await rows("imported_pets (account_id, source_id, row_id, pet_id, import_id, row_values)", `${ofSource}, ${id}, i, i, '{}'`);
  const ofImport = `${first} + CASE WHEN ${rare} THEN 7 ELSE 1 END`;
  await rows("import_changes (account_id, import_id, pet_id, row_id, is_new)", `${ofImport}, i, ${id}, TRUE`);
}

/** Keys, members and sessions: one each of the account, very many of another. */
export async function fillAccess(db: Database): Promise<void> {
  await db.write(async (tx) => {
    for (const id of [neighbour, accountId]) {
      const count = id === accountId ? 1 : many;
      const rows = (table: string, columns: string) =>
        tx.script(
          `INSERT INTO ${table} ${upTo(count)} SELECT ${id}, i, ${columns.replaceAll("#", `'${id} ' || i`)} FROM (SELECT i + ${id * many} AS i FROM n) AS numbered`,
        );
      await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (${id}, 'Shop', 'pro', 0)`);
      await rows("keys (account_id, id, hash, prefix, publishable, scopes, created_at)", "#, 'psk', FALSE, '', 0");
      await rows("members (account_id, id, email, email_key, role, salt, created_at)", "#, #, 'owner', '', 0");
      await rows(
        "sessions (account_id, id, member_id, hash, address, user_agent, created_at, seen_at)",
        `${id * many + 1}, #, '', '', 1, 1`,
      );
    }
  });
}

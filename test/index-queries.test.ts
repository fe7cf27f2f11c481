import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import sql, { raw } from "sql-template-tag";
import { countEncrypted, usedKeyIds } from "../src/administration/encrypted-columns.store.ts";
import { newestOf, readEvents } from "../src/events/log/events.store.ts";
import { orderHistoryRoutes } from "../src/events/log/order-history.routes.ts";
import { petHistoryRoutes } from "../src/events/log/pet-history.routes.ts";
import { listDeliveries } from "../src/events/webhooks/deliveries.store.ts";
import type { Database } from "../src/platform/db/database.ts";
import { migrate } from "../src/platform/db/migrate.ts";
import { listDomains } from "../src/publishing/domains/domains.store.ts";
import { listLost } from "../src/publishing/domains/lost-domains.store.ts";
import { readConfigured, readProjectContext } from "../src/publishing/domains/names.store.ts";
import { listDeployments } from "../src/publishing/projects/deployments.store.ts";
import { listBin } from "../src/store/bin/bin.store.ts";
import { listImports } from "../src/store/imports/imports.store.ts";
import { listItems } from "../src/store/inventory/inventory.store.ts";
import { otherOrders } from "../src/store/order-details/order-details.store.ts";
import { listOrders } from "../src/store/orders/orders.store.ts";
import { listImportedPets } from "../src/store/pets/imported-pets.store.ts";
import { listPetsByFact, valuesOfFact } from "../src/store/pets/pet-facts.store.ts";
import { listPets } from "../src/store/pets/pet-lists.store.ts";
import { searchPets } from "../src/store/pets/pet-search.store.ts";
import type { PetQuery } from "../src/store/pets/pets.ts";
import { findByLink, listReservations, readDue } from "../src/store/reservations/reservations.store.ts";
import { openEmpty, openEmptyOn } from "./support/databases.ts";
import { record } from "./support/recorded-statements.ts";

/*
 * Each write pays for each index, so every index names here the queries that need it. SQLite says whether its plan of the query uses the index.
 */

/** A function of the service that runs a statement which uses the index. */
type Call = (db: Database) => unknown;
/** A part of a statement, as a file of `src` has it. `statement`: a whole statement, with `…` in place of the part. */
type Fragment = { file: string; text: string; statement: string };

function at(file: string, text: string, statement = text.startsWith("FROM ") ? "SELECT 1 …" : "…"): Fragment {
  return { file, text, statement };
}

const pets =
  (query: PetQuery): Call =>
  (db) =>
    listPets(db, 1, query, undefined, 1);
const search =
  (query: PetQuery): Call =>
  (db) =>
    searchPets(db, 1, { q: "re", ...query }, undefined, 1);
const byFact =
  (query: PetQuery): Call =>
  (db) =>
    listPetsByFact(db, 1, query, { name: "breed", value: "Beagle" }, undefined, 1);
const deliveries =
  (query: Parameters<typeof listDeliveries>[2]): Call =>
  (db) =>
    listDeliveries(db, { accountId: 1, webhookId: 1 }, query, 1, 1);
const orderHistory: Call = (db) => orderHistoryRoutes[0]!.read!(db, { accountId: 1, params: { orderId: 1 }, services: {} } as never);
const reservations = "store/reservations/reservations.store.ts";
const encryptedColumns: Call[] = [usedKeyIds, (db) => countEncrypted(db, ["00000001"])];
const [budget, certificates, deployments, projects] = [
  "publishing/certificates/budget.ts",
  "publishing/certificates/certificates.store.ts",
  "publishing/projects/deployments.store.ts",
  "publishing/projects/projects.store.ts",
];
/** To delete a row, SQLite looks for the rows that refer to it. */
const deletedProject = at(projects, "DELETE FROM projects WHERE account_id = ${accountId} AND id = ${id}");
const deletedMember = at("callers/members/members.store.ts", "DELETE FROM members WHERE account_id = ${accountId} AND id = ${memberId}");

const needs: Record<string, (Call | Fragment)[]> = {
  acme_usage_by_age: [at(budget, "FROM acme_usage WHERE at <= ${now - keptMs}")],
  acme_usage_by_subject: [
    at(budget, "FROM acme_usage WHERE limit_name = ${name} AND subject = ${subjectOf(name, subjects)} AND at > ${now - limit.perMs}"),
  ],
  answered_challenges_by_expiry: [at("callers/members/passkeys.store.ts", "FROM answered_challenges WHERE expires_at <= ${now}")],
  authenticator_apps_by_secrets_key: encryptedColumns,
  bin_by_age: [at("store/bin/bin.store.ts", "FROM bin WHERE deleted_at <= ${before} ORDER BY deleted_at")],
  bin_by_time: [(db) => listBin(db, { accountId: 1, urlOf: () => "" }, { deletedAt: 1, id: 1 }, 1)],
  bin_photo_files_by_hash: [
    at("publishing/photos/photos.store.ts", "FROM bin_photo_files WHERE hash = ${hash} AND type = ${type}"),
    at(deployments, "FROM bin_photo_files WHERE bin_photo_files.hash = unused_files.hash", "SELECT EXISTS (SELECT 1 …) FROM unused_files"),
  ],
  certificate_holds_by_age: [at(certificates, "FROM certificate_holds WHERE until <= ${now}")],
  certificate_orders_by_secrets_key: encryptedColumns,
  certificates_by_secrets_key: encryptedColumns,
  challenges_by_age: [at(certificates, "WHERE expires_at <= ${now}", "SELECT 1 FROM challenges …")],
  challenges_by_hostname: [at("publishing/hosts/host-state.ts", "WHERE hostname = ${hostname}", "SELECT 1 FROM challenges …")],
  challenges_by_secrets_key: encryptedColumns,
  contacts_by_completion: [
    at("store/contacts/contacts.store.ts", "FROM contacts WHERE account_id = ${accountId} AND completed_at <= ${before}"),
    at(
      "store/contacts/contacts.store.ts",
      "SELECT MIN(completed_at) FROM contacts WHERE account_id = accounts.id AND completed_at IS NOT NULL",
      "SELECT (…) FROM accounts",
    ),
  ],
  contacts_by_email: [(db) => otherOrders(db, 1, 1)],
  contacts_by_phone: [(db) => otherOrders(db, 1, 1)],
  deployment_turns_by_number: [at(deployments, "COALESCE(MAX(number), 0) + 1 FROM deployment_turns", "SELECT …")],
  deployments_by_project: [
    (db) => listDeployments(db, 1, 1, 0, 1),
    at(deployments, "SELECT id FROM deployments WHERE account_id = ${accountId} AND project_id = ${projectId}"),
    deletedProject,
  ],
  deployments_by_upload: [at(deployments, "FROM deployments WHERE upload = ${upload}")],
  deployments_waiting: [
    at(deployments, "status = 'queued'", "SELECT id FROM deployments WHERE …"),
    at("app/observing.ts", "FROM deployments WHERE status = 'queued'"),
    at("backup/check-files.ts", "FROM deployments WHERE status = 'ready' AND id > ${last} ORDER BY id"),
  ],
  domain_troubles_by_due: [at("publishing/domains/checks.ts", "FROM domain_troubles WHERE due_at <= ${now} ORDER BY due_at")],
  domains_by_project: [
    (db) => listDomains(db, 1, 1, 0, 1),
    at("publishing/domains/names.store.ts", "FROM domains WHERE account_id = ${accountId} AND project_id = ${projectId} ORDER BY id"),
    deletedProject,
  ],
  domains_primary: [(db) => readProjectContext(db, { accountId: 1, projectId: 1 }, []), (db) => readConfigured(db, 1, [1])],
  domains_redirecting: [
    (db) => readConfigured(db, 1, [1]),
    at(
      "publishing/domains/names.store.ts",
      "FROM domains WHERE account_id = ${accountId} AND project_id = ${projectId} AND redirect_to IS NOT NULL AND redirect_to = ${to} ORDER BY hostname",
    ),
  ],
  domains_to_certify: [
    at("publishing/certificates/certificate-state.store.ts", "certificate_due_at <= ${now}", "SELECT id FROM domains WHERE …"),
    at("app/observing.ts", "FROM domains WHERE certificate_due_at <= ${now}"),
  ],
  domains_to_check: [
    at("publishing/domains/checks.ts", "next_check_at <= ${by.now}", "SELECT id FROM domains WHERE … ORDER BY next_check_at"),
    at("app/observing.ts", "FROM domains WHERE next_check_at <= ${now}"),
  ],
  events_by_type: [
    (db) => readEvents(db, 1, { after: 0, types: ["order.created", "pet.created"], limit: 1 }),
    (db) => newestOf(db, 1, ["key.created"]),
    orderHistory,
    at("callers/limits/limit-recorder.ts", "FROM events WHERE account_id = ${accountId} AND type = ${type}"),
    at(
      "events/log/oldest-events.store.ts",
      "FROM events WHERE account_id = ${accountId} AND type = ${type} AND position <= ${last} AND position < ${start} AND at >= ${day * dayMs} AND at < ${(day + 1) * dayMs} ORDER BY position DESC",
    ),
  ],
  events_of_order_changes: [orderHistory],
  facts_by_category_value: [
    byFact({ categoryId: 1 }),
    byFact({ categoryId: 1, status: ["sold"], sort: "-id" }),
    (db) => valuesOfFact(db, 1, { name: "breed", categoryId: 1 }, 10),
  ],
  facts_by_value: [byFact({}), byFact({ status: ["sold"] }), (db) => valuesOfFact(db, 1, { name: "breed" }, 10)],
  files_by_account_hash: [
    at(
      deployments,
      "FROM files other WHERE other.account_id = ${accountId} AND other.hash = files.hash AND other.bytes >= 0",
      "SELECT (SELECT 1 …) FROM files",
    ),
  ],
  files_by_hash: [at(deployments, "EXISTS (SELECT 1 FROM files WHERE files.hash = unused_files.hash)", "SELECT … FROM unused_files")],
  freed_slugs_by_account: [at(projects, "FROM freed_slugs WHERE account_id = ${accountId} ORDER BY freed_at, slug LIMIT 1")],
  freed_slugs_by_age: [at(projects, "FROM freed_slugs WHERE freed_at <= ${now - keptMs}")],
  idempotency_by_age: [
    at("platform/http/idempotency.store.ts", "FROM idempotency WHERE created_at <= ${earliest - answersKeptMs}"),
    at("app/storage.ts", "SELECT MAX(created_at) AS at FROM idempotency"),
  ],
  import_photos_due: [
    at("store/imports/import-photos.store.ts", "due_at <= ${now}", "SELECT 1 FROM import_photos WHERE … ORDER BY due_at"),
  ],
  imported_pets_by_pet: [
    (db) => listImportedPets(db, 1, { source: "File" }, undefined, 1),
    at(
      "store/imports/import-changes.store.ts",
      "FROM imported_pets WHERE account_id = ${accountId} AND source_id = ${sourceId} AND pet_id IN (${join([...petIds])})",
    ),
  ],
  imports_by_source: [(db) => listImports(db, 1, { source: "File" }, undefined, 1)],
  imports_due: [at("store/imports/imports.store.ts", "due_at <= ${now}", "SELECT 1 FROM imports WHERE … ORDER BY due_at")],
  inventory_by_status: [(db) => listItems(db, 1, { status: ["sold"] }, 0, 1)],
  keys_by_id: [at("callers/keys/keys.store.ts", "FROM keys WHERE id = ${id}")],
  lost_domains_by_age: [at("publishing/domains/lost-domains.store.ts", "FROM lost_domains WHERE lost_at <= ${now - shownMs}")],
  lost_domains_by_project: [(db) => listLost(db, 1, 1, 0, 1), deletedProject],
  members_by_email: [at("callers/members/members.store.ts", "FROM members WHERE email_key = ${emailKey(email)} AND password IS NOT NULL")],
  orders_by_complete: [(db) => listOrders(db, 1, { complete: true }, undefined, 1)],
  orders_by_pet_complete: [
    (db) => listOrders(db, 1, { petId: 1 }, undefined, 1),
    at("store/pets/pets.store.ts", "FROM orders WHERE account_id = ${accountId} AND pet_id = ${id} AND complete = FALSE"),
    at(
      "store/inventory/inventory.store.ts",
      "account_id = ${accountId} AND pet_id = ${petId} AND complete = FALSE AND held > 0",
      "SELECT id FROM orders WHERE … ORDER BY id",
    ),
    at(
      "store/inventory/inventory.store.ts",
      "UPDATE orders SET held = 0 WHERE account_id = ${accountId} AND pet_id = ${petId} AND complete = FALSE AND held > 0",
    ),
    at(
      "store/inventory/pet-changes.store.ts",
      "FROM orders WHERE account_id = ${accountId} AND pet_id IN (${join(untracking)}) AND complete = FALSE AND held > 0 ORDER BY id",
    ),
    at("store/imports/undo.store.ts", "SELECT DISTINCT pet_id FROM orders WHERE account_id = ${accountId} AND pet_id IN (${join(made)})"),
  ],
  own_challenges_by_account: [
    at(certificates, "WHERE account_id = ${accountId} AND hostname = ${hostname}", "DELETE FROM own_challenges …"),
    at(certificates, "ON CONFLICT (account_id, hostname, type) DO UPDATE"),
  ],
  page_views_by_day: [at("publishing/storefront/page-views.store.ts", "FROM page_views WHERE day < ${before}")],
  pending_sign_ins_by_expiry: [at("callers/members/factors.store.ts", "FROM pending_sign_ins WHERE expires_at <= ${now}")],
  pending_sign_ins_by_member: [
    at("callers/members/factors.store.ts", "DELETE FROM pending_sign_ins WHERE account_id = ${accountId} AND member_id = ${memberId}"),
    deletedMember,
  ],
  pet_words_by_category_status_word: [search({ categoryId: 1, status: ["sold"] })],
  pet_words_by_category_word: [search({ categoryId: 1 })],
  pet_words_by_status_word: [search({ status: ["sold"] })],
  pet_words_by_word: [search({}), at("store/pets/pet-words.store.ts", "SELECT MIN(shared) FROM pet_words WHERE account_id = ?")],
  pets_by_category: [
    pets({ categoryId: 1 }),
    at(
      "store/categories/categories.store.ts",
      "FROM pets WHERE pets.account_id = categories.account_id AND category_id = categories.id",
      "SELECT (SELECT 1 …) FROM categories",
    ),
    at("store/categories/categories.store.ts", "DELETE FROM categories WHERE account_id = ${accountId} AND id = ${id}"),
  ],
  pets_by_category_name: [pets({ categoryId: 1, sort: "name" })],
  pets_by_category_status: [pets({ categoryId: 1, status: ["sold"] })],
  pets_by_category_status_name: [pets({ categoryId: 1, status: ["sold"], sort: "-name" })],
  pets_by_name: [pets({ sort: "name" })],
  pets_by_status: [pets({ status: ["sold", "pending"] })],
  pets_by_status_name: [pets({ status: ["sold"], sort: "name" })],
  photo_files_by_hash: [
    at("publishing/photos/photos.store.ts", "FROM photo_files WHERE hash = ${hash} AND type = ${type}"),
    at(deployments, "EXISTS (SELECT 1 FROM photo_files WHERE photo_files.hash = unused_files.hash)", "SELECT … FROM unused_files"),
  ],
  photos_by_pet: [
    at("store/profiles/profiles.store.ts", "FROM photos WHERE account_id = ${accountId} AND pet_id = ${petId}"),
    at(
      "store/profiles/profiles.store.ts",
      "FROM photos JOIN photo_files ON photo_files.account_id = photos.account_id AND photo_files.photo_id = photos.id WHERE photos.account_id = ${accountId} AND photos.pet_id IN (${join(profiles.map((row) => row.pet_id))}) ORDER BY photos.pet_id",
    ),
    at("store/profiles/profiles.store.ts", "DELETE FROM profiles WHERE account_id = ${accountId} AND pet_id = ${petId}"),
  ],
  request_log_by_age: [at("callers/usage/request-log.store.ts", "FROM request_log WHERE position < ${before * 1_000}")],
  reservations_by_end: [
    at(reservations, "FROM reservations WHERE account_id = ${accountId} AND ended_at <= ${before}"),
    at(
      reservations,
      "SELECT MIN(ended_at) FROM reservations WHERE account_id = accounts.id AND ended_at IS NOT NULL",
      "SELECT (…) FROM accounts",
    ),
  ],
  reservations_by_link: [(db) => findByLink(db, 1, "link")],
  reservations_by_order: [at(reservations, "FROM reservations WHERE account_id = ? AND order_id = ? AND ended_at IS NULL")],
  reservations_by_state: [
    (db) => listReservations(db, 1, { state: "open" }, undefined, 1),
    at(reservations, "FROM reservations WHERE account_id = ${accountId} AND state = 'open'"),
  ],
  reservations_by_time: [at(reservations, "FROM reservations WHERE account_id = ${accountId} AND created_at > ${now - hourMs}")],
  reservations_to_lapse: [(db) => readDue(db, 1, { lapsesAt: 0, accountId: 0, id: 0 }, 1)],
  sessions_by_age: [
    at("callers/members/sessions.store.ts", "FROM sessions WHERE seen_at <= ${now - idleMs} OR created_at <= ${now - absoluteMs}"),
    at("app/storage.ts", "SELECT MAX(created_at) FROM sessions"),
  ],
  sessions_by_member: [
    at(
      "callers/members/sessions.store.ts",
      "FROM sessions WHERE account_id = ${accountId} AND member_id = ${memberId} ORDER BY seen_at DESC, id DESC",
    ),
    deletedMember,
  ],
  sessions_by_use: [
    at("callers/members/sessions.store.ts", "FROM sessions WHERE seen_at <= ${now - idleMs} OR created_at <= ${now - absoluteMs}"),
  ],
  sign_in_links_by_age: [at("callers/members/sessions.store.ts", "FROM sign_in_links WHERE expires_at <= ${now}")],
  usage_by_age: [at("callers/usage/usage.store.ts", "FROM usage WHERE step = ${retention[interval].stepMs} AND start < ${from}")],
  verifications_by_registrable_domain: [
    at("publishing/domains/ownership.store.ts", "FROM verifications WHERE registrable_domain = ${registrableDomain}"),
  ],
  webhook_deliveries_by_age: [
    at(
      "events/webhooks/deliveries.store.ts",
      "created_at < ${now - keptMs} AND status <> 'pending'",
      "SELECT id FROM webhook_deliveries WHERE … ORDER BY created_at",
    ),
  ],
  webhook_deliveries_by_message: [at("events/webhooks/deliveries.store.ts", "ON CONFLICT (account_id, webhook_id, message_id) DO UPDATE")],
  webhook_deliveries_by_request: [deliveries({ requestId: "1" }), deliveries({ requestId: "1", status: "delivered" })],
  webhook_deliveries_due: [
    at(
      "events/webhooks/deliveries.store.ts",
      "WHERE account_id = ${accountId} AND webhook_id = ${webhookId} AND status = 'pending' AND next_attempt_at <= ${now}",
      "SELECT id FROM webhook_deliveries … ORDER BY ignores_pause DESC, next_attempt_at",
    ),
  ],
  webhook_deliveries_undelivered: [deliveries({ status: "failed" }), deliveries({ status: "pending" })],
  webhook_deliveries_undelivered_by_request: [deliveries({ requestId: "1", status: "failed" })],
  webhooks_by_previous_secrets_key: encryptedColumns,
  webhooks_by_secrets_key: encryptedColumns,
};

test("each index names the queries that need it, and SQLite uses it for them", async (t) => {
  const db = openEmpty(t);
  await migrate(db, 0);
  await db.write(async (tx) => {
    await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (1, 'Shop', 'pro', 0)`);
    await tx.query(sql`INSERT INTO import_sources (account_id, id, name, name_key) VALUES (1, 1, 'File', 'file')`);
    await tx.query(sql`INSERT INTO orders (account_id, id, quantity, held, complete, version) VALUES (1, 1, 1, 0, FALSE, 1)`);
    await tx.query(sql`INSERT INTO contacts (account_id, order_id, email_key, phone_key, version) VALUES (1, 1, 'a@b.example', '1', 1)`);
    await tx.query(sql`INSERT INTO pet_words (account_id, pet_id, word, shared, category_id, status) VALUES (1, 1, 'rex', 0, 1, 'sold')`);
  });
  assert.deepEqual(await indexesOf(db), Object.keys(needs).toSorted());
  for (const [index, queries] of Object.entries(needs)) {
    await t.test(index, async () => {
      for (const query of queries) await requireUse(db, index, query);
    });
  }
});

test("the history of an animal reads ranges of the log by its primary key", async (t) => {
  const db = openEmpty(t);
  await migrate(db, 0);
  await db.write(async (tx) => {
    await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (1, 'Shop', 'pro', 0)`);
    await tx.query(sql`INSERT INTO events (account_id, position, type, at, resource, actor, text, hash)
      VALUES (1, 1, 'pet.created', 0, 'pet/1', 'key/1', '{}', '')`);
  });
  const { db: recorded, statements } = record(db);
  await petHistoryRoutes[0]!.read!(recorded, { accountId: 1, params: { petId: 2 }, query: { before: 2 }, services: {} } as never);
  const step = statements.find(({ sql: text }) => text.includes("instr("));
  const plan = await db.query<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${raw(step!.sql)}`);
  const key = "USING INDEX sqlite_autoindex_events_1 (account_id=? AND position>? AND position<?)";
  assert.deepEqual(
    plan.filter(({ detail }) => /events|SORT|B-TREE/i.test(detail)).map(({ detail }) => detail),
    [`SEARCH events ${key}`],
  );
});

test("a table has statistics for all of its indexes, or for none", async (t) => {
  const db = openEmpty(t);
  await migrate(db, 0);
  const tables = await db.query<{ tbl: string; known: number; all: number }>(sql`
    SELECT tbl, COUNT(*) AS known, (SELECT COUNT(*) FROM pragma_index_list(tbl)) AS "all" FROM sqlite_stat1 GROUP BY tbl`);
  assert.ok(tables.length > 0);
  for (const { tbl, known, all } of tables) assert.equal(known, all, tbl);
});

/** Indexes of tables that SQLite lacks. */
const onPostgresOnly = ["blobs_by_age"];
/** Indexes that PostgreSQL keeps, because only there nodes of an earlier version may run beside this one. */
const droppedOnSqlite = ["orders_by_pet", "webhooks_due"];

test("PostgreSQL has the same indexes", async (t) => {
  const db = await openEmptyOn("postgres", t);
  await migrate(db, 0);
  assert.deepEqual(await indexesOf(db), [...Object.keys(needs), ...onPostgresOnly, ...droppedOnSqlite].toSorted());
});

/** The names of all indexes that a migration created, sorted. */
async function indexesOf(db: Database): Promise<string[]> {
  const named =
    db.engine === "sqlite"
      ? sql`SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL`
      : sql`SELECT indexname AS name FROM pg_indexes WHERE schemaname = current_schema()
          AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = indexname AND connamespace = CAST(current_schema() AS REGNAMESPACE))`;
  return (await db.query<{ name: string }>(named)).map(({ name }) => name).toSorted();
}

async function requireUse(db: Database, index: string, query: Call | Fragment): Promise<void> {
  if (typeof query === "function") {
    const { db: recorded, statements } = record(db);
    await query(recorded);
    const texts = statements.map(({ sql: text }) => text);
    await requirePlan(db, index, texts);
  } else {
    const { file, text, statement } = query;
    const source = readFileSync(new URL(`../src/${file}`, import.meta.url), "utf8").replaceAll(/\s+/g, " ");
    assert.ok(source.includes(text), `${file} has no ${text}`);
    const [, target] = /^ON CONFLICT \(([a-z_, ]+)\)/.exec(text) ?? [];
    if (target !== undefined) assert.equal((await columnsOf(db, index)).join(", "), target);
    else await requirePlan(db, index, [statement.replace("…", () => text.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, "?"))]);
  }
}

async function columnsOf(db: Database, index: string): Promise<string[]> {
  const rows = await db.query<{ name: string }>(sql`SELECT name FROM pragma_index_info(${index}) ORDER BY seqno`);
  return rows.map(({ name }) => name);
}

async function requirePlan(db: Database, index: string, statements: string[]): Promise<void> {
  const plans: string[] = [];
  for (const text of statements) {
    const plan = await db.query<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${raw(text)}`);
    plans.push(...plan.map(({ detail }) => detail));
  }
  assert.ok(
    plans.some((detail) => detail.split(" ").includes(index)),
    `${statements.join("\n")}\n${plans.join("\n")}`,
  );
}

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import sql from "sql-template-tag";
import { openEmptyOn } from "../../../test/support/databases.ts";
import type { Database } from "../../platform/db/database.ts";
import { migrate, migrationsFor } from "../../platform/db/migrate.ts";
import { addServiceHost } from "./certificate-state.store.ts";
import { findCertificate, findCertificateOrder, saveCertificate, serviceAccount } from "./certificates.store.ts";

const host = { hostname: "pets.shop.test", registrableDomain: "shop.test", kind: "subdomain" } as const;

/** A database of release 1.2.0, with one host of PUBLIC_URL that has a certificate and one whose first order is under way. */
async function openUpgraded(t: TestContext, engine: Database["engine"]): Promise<Database> {
  const db = await openEmptyOn(engine, t);
  const before = migrationsFor(engine).filter(({ number }) => number < 57);
  await migrate(db, 0, before);
  await db.write(async (tx) => {
    await tx.query(sql`
      INSERT INTO own_certificates (hostname, number, chain, key, not_before, not_after, renewal_id, first_issued_at, failures, due_at, directory_url)
      VALUES (${host.hostname}, 3, 'chain', 'key', 10, 90, 'id', 5, 0, 60, 'https://ca.test/dir')`);
    await tx.query(sql`
      INSERT INTO own_certificates (hostname, number, order_directory_url, order_url, order_key, failures, problem, due_at)
      VALUES ('new.shop.test', 0, 'https://ca.test/dir', 'https://ca.test/order', 'order key', 2, 'The authority refused.', 70)`);
  });
  await migrate(db, 0);
  return db;
}

for (const engine of ["sqlite", "postgres"] as const) {
  test(`${engine}: an upgrade keeps the certificate of PUBLIC_URL, the start of its HSTS, and an order under way`, async (t) => {
    const db = await openUpgraded(t, engine);
    const { id, ...certificate } = (await findCertificate(db, serviceAccount, host.hostname))!;
    assert.ok(id < 0);
    assert.deepEqual(certificate, {
      hostname: host.hostname,
      chain: "chain",
      key: "key",
      notBefore: 10,
      notAfter: 90,
      renewalId: "id",
      renewAt: 60,
      directoryUrl: "https://ca.test/dir",
      replaceAsked: false,
    });
    const rows = await db.query(sql`
      SELECT hostname, certificate_status AS status, certificate_problem AS problem, certificate_due_at AS due,
        first_verified_at AS since FROM service_domains ORDER BY hostname`);
    assert.deepEqual(rows, [
      { hostname: "new.shop.test", status: "failing", problem: "The authority refused.", due: 70, since: null },
      { hostname: host.hostname, status: "issued", problem: null, due: 60, since: 5 },
    ]);
    assert.deepEqual(await findCertificateOrder(db, serviceAccount, "new.shop.test"), {
      directoryUrl: "https://ca.test/dir",
      url: "https://ca.test/order",
      key: "order key",
      failures: 2,
    });
  });

  test(`${engine}: a start brings the first try for the host of PUBLIC_URL forward, but not the renewal of its certificate`, async (t) => {
    const db = await openUpgraded(t, engine);
    for (const hostname of [host.hostname, "new.shop.test"]) await addServiceHost(db, { ...host, hostname }, 50, null);
    const rows = await db.query(sql`
      SELECT hostname, registrable_domain, kind, certificate_due_at AS due FROM service_domains ORDER BY hostname`);
    const same = { registrable_domain: "shop.test", kind: "subdomain" };
    assert.deepEqual(rows, [
      { hostname: "new.shop.test", ...same, due: 50 },
      { hostname: host.hostname, ...same, due: 60 },
    ]);
  });

  test(`${engine}: nodes of 1.2.0 serve each new certificate of PUBLIC_URL, and order none themselves`, async (t) => {
    const db = await openUpgraded(t, engine);
    await addServiceHost(db, host, 50, null);
    const renewed = { chain: "renewed", key: "new key", notBefore: 50, notAfter: 150, renewalId: null, renewAt: 120, directoryUrl: null };
    await db.write((tx) => saveCertificate(tx, serviceAccount, { hostname: host.hostname, ...renewed }));
    const [row] = await db.query(sql`
      SELECT number, chain, key, not_after, first_issued_at AS since, due_at FROM own_certificates WHERE hostname = ${host.hostname}`);
    assert.deepEqual(row, { number: 4, chain: "renewed", key: "new key", not_after: 150, since: 5, due_at: Number.MAX_SAFE_INTEGER });
  });
}

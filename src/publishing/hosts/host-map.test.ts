import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pino } from "pino";
import sql, { type Sql } from "sql-template-tag";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { openSqlite } from "../../platform/db/sqlite.ts";
import { encryptSecret, newSecretsKey, parseSecretsKeys } from "../../platform/secrets.ts";
import { addServiceHost } from "../certificates/certificate-state.store.ts";
import { saveCertificate, serviceAccount } from "../certificates/certificates.store.ts";
import { insertDomain } from "../domains/domains.store.ts";
import { domainChanged } from "../domains/domains.ts";
import type { Site } from "../edge/site.ts";
import { manifestToText } from "../projects/content.ts";
import { insertDeployment } from "../projects/deployments.store.ts";
import { insertProject, switchDeployment } from "../projects/projects.store.ts";
import { openHosts } from "./host-map.ts";

test("the most recently used manifests stay parsed, up to a bound; an evicted one is parsed again at its next use", async (t) => {
  const db = openSqlite(join(temporaryFolder(t), "test.db"));
  t.after(() => db.close());
  await migrate(db, 0);
  const text = (hash: string) => manifestToText(new Map([["index.html", { hash, size: 1, type: "text/html", encodings: {} }]]));
  await db.write(async (tx) => {
    await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (1, 'Shop', 'pro', 0)`);
    for (const slug of ["one", "two", "three"]) {
      const { id } = await insertProject(tx, 1, { name: slug, slug }, 0);
      const deployment = await insertDeployment(tx, 1, id, slug, 0);
      await tx.query(sql`UPDATE deployments SET status = 'ready', manifest = ${text(slug)} WHERE id = ${deployment.id}`);
      await switchDeployment(tx, 1, id, deployment.id);
    }
  });
  const hosts = openHosts({
    db,
    clock: () => 0,
    keys: parseSecretsKeys(newSecretsKey()),
    log: pino({ level: "silent" }),
    isLive: () => true,
    hasAuthority: true,
    platformDomain: "sites.test",
    serviceHost: null,
    platformCertificate: null,
    drop: () => undefined,
    manifestChars: 2 * text("three").length,
  });
  await hosts.applyChange(undefined);
  const manifestOf = (slug: string) => (hosts.sites.get(`${slug}.sites.test`) as Extract<Site, { status: "live" }>).manifest;
  const [one, two] = [manifestOf("one"), manifestOf("two")];
  assert.equal(manifestOf("one"), one, "kept");
  manifestOf("three");
  assert.equal(manifestOf("one"), one, "asked for later than the second");
  assert.notEqual(manifestOf("two"), two, "evicted");
  assert.deepEqual(manifestOf("two"), two);
  assert.equal(manifestOf("three").get("index.html")?.hash, "three");
});

const name = { hostname: "www.shop.test", registrableDomain: "shop.test", kind: "subdomain" as const };

test("a handshake between a renewal and its change message gets the new certificate, and none is refused", async (t) => {
  const db = openSqlite(join(temporaryFolder(t), "test.db"));
  t.after(() => db.close());
  await migrate(db, 0);
  const keys = parseSecretsKeys(newSecretsKey());
  const save = (chain: string) =>
    db.write((tx) => {
      const key = encryptSecret(keys, `key of ${chain}`, name.hostname);
      return saveCertificate(tx, 1, {
        hostname: name.hostname,
        chain,
        key,
        notBefore: 0,
        notAfter: 1,
        renewalId: null,
        renewAt: 1,
        directoryUrl: null,
      });
    });
  await db.write(async (tx) => {
    await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (1, 'Shop', 'pro', 0)`);
    const project = await insertProject(tx, 1, { name: "Rex", slug: "rex" }, 0);
    await insertDomain(tx, { accountId: 1, projectId: project.id }, name, false, 0);
  });
  const first = await save("the first");
  await db.write((tx) => tx.query(sql`UPDATE domains SET status = 'verified', certificate_id = ${first}`));
  const hosts = openHosts({
    db,
    clock: () => 0,
    keys,
    log: pino({ level: "silent" }),
    isLive: () => true,
    hasAuthority: true,
    platformDomain: "sites.test",
    serviceHost: null,
    platformCertificate: null,
    drop: () => undefined,
  });
  await hosts.applyChange(undefined);
  const known = hosts.certificates.current(name.hostname);
  assert.equal(known, String(first));
  assert.deepEqual(await hosts.certificates.load(known, name.hostname), { cert: "the first", key: "key of the first" });

  const second = await save("the second");
  assert.deepEqual(await hosts.certificates.load(known, name.hostname), { cert: "the second", key: "key of the second" });
  await db.write((tx) => tx.query(sql`UPDATE domains SET certificate_id = ${second}`));
  await hosts.applyChange(domainChanged(name.hostname));
  assert.equal(hosts.certificates.current(name.hostname), String(second));
  await db.write((tx) => tx.query(sql`DELETE FROM domains`));
  assert.equal(await hosts.certificates.load(String(second), name.hostname), undefined, "a removed name has no certificate");
});

test("the primary name and redirects follow the changes of single names, in any order", async (t) => {
  const db = openSqlite(join(temporaryFolder(t), "test.db"));
  t.after(() => db.close());
  await migrate(db, 0);
  const time = { now: 0 };
  const manifest = manifestToText(new Map([["index.html", { hash: "a", size: 1, type: "text/html", encodings: {} }]]));
  await db.write(async (tx) => {
    await tx.query(sql`INSERT INTO accounts (id, name, plan, created_at) VALUES (1, 'Shop', 'pro', 0)`);
    for (const slug of ["rex", "luna"]) {
      const { id } = await insertProject(tx, 1, { name: slug, slug }, 0);
      const deployment = await insertDeployment(tx, 1, id, slug, 0);
      await tx.query(sql`UPDATE deployments SET status = 'ready', manifest = ${manifest} WHERE id = ${deployment.id}`);
      await switchDeployment(tx, 1, id, deployment.id);
    }
    for (const hostname of ["a.shop.test", "b.shop.test"])
      await insertDomain(tx, { accountId: 1, projectId: 1 }, { ...name, hostname }, false, 0);
    await tx.query(sql`UPDATE domains SET status = 'verified', certificate_id = 1, certificate_expires_at = 100`);
  });
  const dropped: string[] = [];
  const hosts = openHosts({
    db,
    clock: () => time.now,
    keys: parseSecretsKeys(newSecretsKey()),
    log: pino({ level: "silent" }),
    isLive: () => true,
    hasAuthority: true,
    platformDomain: "sites.test",
    serviceHost: null,
    platformCertificate: null,
    drop: (host) => dropped.push(host),
  });
  const set = (hostname: string, columns: Sql) =>
    db.write((tx) => tx.query(sql`UPDATE domains SET ${columns} WHERE hostname = ${hostname}`));
  const applyChanges = (...names: string[]) => Promise.all(names.map((hostname) => hosts.applyChange(domainChanged(hostname))));
  const canonicalOf = (host: string) => (hosts.sites.get(host) as Extract<Site, { status: "live" }>).canonical;
  const statusOf = (host: string) => hosts.sites.get(host)?.status;

  await hosts.applyChange(undefined);
  assert.equal(canonicalOf("rex.sites.test"), undefined);
  await set("a.shop.test", sql`is_primary = TRUE`);
  await applyChanges("a.shop.test");
  assert.deepEqual(["rex.sites.test", "b.shop.test", "a.shop.test"].map(canonicalOf), ["a.shop.test", "a.shop.test", undefined]);
  await set("a.shop.test", sql`is_primary = FALSE`);
  await set("b.shop.test", sql`is_primary = TRUE`);
  await applyChanges("b.shop.test");
  await applyChanges("a.shop.test");
  assert.deepEqual(["rex.sites.test", "b.shop.test", "a.shop.test"].map(canonicalOf), ["b.shop.test", undefined, "b.shop.test"]);

  await set("a.shop.test", sql`redirect_to = 'b.shop.test', redirect_status = 301`);
  await applyChanges("a.shop.test");
  assert.deepEqual(hosts.sites.get("a.shop.test"), { status: "redirect", to: "b.shop.test", code: 301 });
  time.now = 100;
  assert.deepEqual([statusOf("a.shop.test"), canonicalOf("rex.sites.test")], ["live", undefined], "its certificate has expired");
  time.now = 0;
  await set("b.shop.test", sql`project_id = 2`);
  await applyChanges("b.shop.test");
  assert.deepEqual([statusOf("a.shop.test"), canonicalOf("rex.sites.test")], ["live", undefined], "it is another project's");
  assert.equal(canonicalOf("luna.sites.test"), "b.shop.test");
  await db.write((tx) => tx.query(sql`DELETE FROM domains WHERE hostname = 'b.shop.test'`));
  await applyChanges("b.shop.test");
  assert.deepEqual([statusOf("a.shop.test"), canonicalOf("luna.sites.test"), statusOf("b.shop.test")], ["live", undefined, undefined]);
  assert.ok(!dropped.includes("a.shop.test"), "its connections stay open");
});

test("the host of PUBLIC_URL is served without a lease of the node, which ends connections to sites but not to it", async (t) => {
  const db = openSqlite(join(temporaryFolder(t), "test.db"));
  t.after(() => db.close());
  await migrate(db, 0);
  const keys = parseSecretsKeys(newSecretsKey());
  const host = { hostname: "pets.test", registrableDomain: "pets.test", kind: "apex" } as const;
  await addServiceHost(db, host, 0, null);
  const dropped: string[] = [];
  const hosts = openHosts({
    db,
    clock: () => 0,
    keys,
    log: pino({ level: "silent" }),
    isLive: () => false,
    hasAuthority: true,
    platformDomain: "sites.test",
    serviceHost: host.hostname,
    platformCertificate: null,
    drop: (hostname) => dropped.push(hostname),
  });
  const shown = () => [hosts.sites.get(host.hostname)?.status, hosts.certificates.current(host.hostname), hosts.hstsSeconds(host.hostname)];
  await hosts.applyChange(undefined);
  assert.deepEqual(shown(), ["own", undefined, undefined], "before its first certificate");
  const id = await db.write(async (tx) => {
    const key = encryptSecret(keys, "its key", host.hostname);
    const times = { notBefore: 0, notAfter: 9, renewAt: 6 };
    const made = { hostname: host.hostname, chain: "its chain", key, ...times, renewalId: null, directoryUrl: null };
    const certificateId = await saveCertificate(tx, serviceAccount, made);
    await tx.query(sql`UPDATE service_domains SET certificate_id = ${certificateId}, certificate_expires_at = 9, first_verified_at = 0`);
    return certificateId;
  });
  await hosts.applyChange(domainChanged(host.hostname));
  assert.deepEqual(shown(), ["own", String(id), 86_400]);
  assert.deepEqual(await hosts.certificates.load(String(id), host.hostname), { cert: "its chain", key: "its key" });
  hosts.onLeaseLost();
  assert.deepEqual(dropped, []);
});

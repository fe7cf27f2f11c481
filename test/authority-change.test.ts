import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import sql from "sql-template-tag";
import { letsEncryptBudget } from "../src/publishing/certificates/budget.ts";
import { countFormer, lastReplacedAt, makeFormerDue } from "../src/publishing/certificates/former-authority.ts";
import { startAcmeProxy, type AcmeProxy } from "./support/acme-proxy.ts";
import { settingsFor } from "./support/authorities.ts";
import { openScene, ordersAt } from "./support/certifying.ts";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { startPebble, type Pebble } from "./support/pebble.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** A scene with a certificate, and another authority to which ACME_DIRECTORY_URL may change. */
async function openChange(t: Parameters<typeof openScene>[0], names = ["www.shop.test"]) {
  let other: AcmeProxy | undefined;
  const scene = await openScene(t, {
    dataDir: temporaryFolder(t),
    besides: async (pebble: Pebble) => {
      other = await startAcmeProxy(pebble);
      t.after(() => other?.close());
    },
  });
  for (const name of names) await scene.add(name);
  const { platform } = scene;
  const change = async (): Promise<void> => {
    await platform.restart({ ACME_DIRECTORY_URL: other!.directoryUrl });
    await platform.service.publishing.idle();
  };
  const idle = () => platform.service.publishing.idle();
  const ordered = () => other!.requests.flatMap(({ path, payload, status }) => (path === "/order-plz" && status === 201 ? [payload] : []));
  return { ...scene, other: other!, change, idle, ordered };
}

type Order = { identifiers: { value: string }[]; replaces?: string };

suite("a trusted certificate", () => {
  // The first test of this file, because the roots are read once.
  test("is not replaced by one that is not trusted, as `doctor` says, is renewed after a change back, and gives way to Re-verify", async (t) => {
    const dataDir = temporaryFolder(t);
    const scene = await openScene(t, { dataDir, pebble: {}, env: { ACME_BUDGET: "duplicates=off" } });
    const { platform, project, proxy, add, idle } = scene;
    setDefaultCACertificates([...getCACertificates("default"), platform.root]);
    const { http, https } = platform.service.publishing.addresses()!;
    const staging = await startPebble({ dns: platform.dns.address, httpPort: http.port, tlsPort: https!.port });
    t.after(() => staging.stop());
    for (const name of ["www.shop.test", "www.other.test"]) await add(name);
    const { expiresAt } = await scene.certificate();
    const started = async (directoryUrl: string) => {
      await platform.restart({ ACME_DIRECTORY_URL: directoryUrl });
      await idle();
    };
    const idOf = async (name: string) => {
      const [row] = await platform.service.db.query<{ id: number }>(sql`SELECT id FROM certificates WHERE hostname = ${name}`);
      return row!.id;
    };
    const ids = await Promise.all(["www.shop.test", "www.other.test"].map(idOf));

    platform.time.now += minuteMs;
    await started(staging.directoryUrl);
    assert.deepEqual(await Promise.all(["www.shop.test", "www.other.test"].map(idOf)), ids, "both stay");
    const db = platform.service.db;
    assert.deepEqual(await countFormer(db, staging.directoryUrl, platform.time.now), { remaining: 0, most: 0, kept: 2 });

    const env = { ...settingsFor({ dns: platform.dns, pebble: staging }), DATA_DIR: dataDir, PLATFORM_DOMAIN: "sites.test", PORT: "0" };
    const { out } = await runCommand(["doctor", "--json"], { ...env, EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0" });
    assert.match(out, /2 trusted certificates of another authority stay until they expire/);

    await scene.reverify("www.other.test");
    await idle();
    assert.notEqual(await idOf("www.other.test"), ids[1], "Re-verify replaces one");
    assert.equal(await idOf("www.shop.test"), ids[0]);

    const orders = ordersAt(proxy);
    await started(proxy.directoryUrl);
    assert.equal(ordersAt(proxy), orders + 1, "the staging certificate is replaced at once");
    platform.time.now = Date.parse(expiresAt!) - 10 * dayMs;
    await idle();
    assert.notEqual(await idOf("www.shop.test"), ids[0], "and the trusted one is renewed before it expires");
    assert.equal((await platform.domain(project, "www.shop.test")).certificate.status, "issued");

    const trusted = await idOf("www.shop.test");
    await started(staging.directoryUrl);
    assert.equal(await idOf("www.shop.test"), trusted, "stays once more");
    await platform.service.administration["certificates.replace"]({ hostname: "www.shop.test" });
    await idle();
    assert.notEqual(await idOf("www.shop.test"), trusted, "the operator's command replaces it");
  });
});

suite("a change of the certificate authority", () => {
  test("replaces the certificates of the former one at once, the soonest expiry first, and names none of its identifiers", async (t) => {
    const names = ["a.one.test", "b.two.test", "c.three.test"];
    const { platform, certificate, change, ordered } = await openChange(t, names);
    const { db } = platform.service;
    for (const [index, name] of names.entries()) {
      const expiresAt = platform.time.now + (30 - 10 * index) * dayMs;
      await db.write((tx) => tx.query(sql`UPDATE certificates SET not_after = ${expiresAt} WHERE hostname = ${name}`));
      await db.write((tx) => tx.query(sql`UPDATE domains SET certificate_expires_at = ${expiresAt} WHERE hostname = ${name}`));
    }
    platform.time.now += minuteMs;
    await makeFormerDue(db, "https://authority.test/directory", platform.time.now);
    const due = await db.query<{ hostname: string }>(sql`SELECT hostname FROM domains ORDER BY certificate_due_at`);
    assert.deepEqual(
      due.map(({ hostname }) => hostname),
      names.toReversed(),
    );
    const counts = await countFormer(db, "https://authority.test/directory", platform.time.now);
    assert.deepEqual(counts, { remaining: 3, most: 1, kept: 0 });
    await change();
    const orders = ordered() as Order[];
    assert.deepEqual(
      orders.map(({ identifiers }) => identifiers[0]?.value ?? "").toSorted((a, b) => (a < b ? -1 : 1)),
      names,
    );
    assert.ok(orders.every(({ replaces }) => replaces === undefined));
    for (const name of names) assert.equal((await certificate(name)).status, "issued");
    const before = ordered().length;
    await change();
    assert.equal(ordered().length, before, "and only once");
  });

  test("ends when the budget of orders, and of the largest domain, allow", () => {
    const until = (remaining: number, most: number) => lastReplacedAt({ remaining, most, kept: 0 }, letsEncryptBudget, 0);
    assert.deepEqual([until(300, 1), until(301, 1), until(100, 50), until(100, 51)], [0, 3 * 60 * minuteMs, 0, 7 * dayMs]);
  });

  test("is done at once by Re-verify, whatever the pause after earlier failures", async (t) => {
    const { platform, reverify, change, idle, ordered, other, certificate } = await openChange(t);
    other.intercept = { before: ({ path }) => (path === "/order-plz" ? { status: 503 } : undefined) };
    await change();
    const failed = await certificate();
    assert.deepEqual(
      [failed.status, Date.parse(failed.retryAt!) - platform.time.now],
      ["issued", minuteMs],
      "the former one is still served",
    );
    platform.time.now += minuteMs;
    await idle();
    assert.equal(Date.parse((await certificate()).retryAt!) - platform.time.now, 10 * minuteMs);
    other.intercept = {};
    platform.time.now += minuteMs;
    await idle();
    assert.equal(ordered().length, 0, "the pause");
    await reverify();
    await idle();
    assert.equal(ordered().length, 1);
    assert.deepEqual([(await certificate()).status, (await certificate()).problem], ["issued", null]);
  });
});

suite("the life of a certificate", () => {
  for (const [life, seconds] of [
    ["5 minutes", 300],
    ["6 days", 6 * 86_400],
    ["45 days", 45 * 86_400],
  ] as const)
    test(`of ${life} is renewed when a third of it remains`, async (t) => {
      const { platform, proxy, add, idle, certificate } = await openScene(t, {
        env: { ACME_BUDGET: "duplicates=off" },
        pebble: { certificateSeconds: seconds },
      });
      await add();
      const first = Date.parse((await certificate()).expiresAt!);
      platform.time.now = first - Math.ceil((seconds * 1_000) / 3) - 2_000;
      await idle();
      assert.equal(ordersAt(proxy), 1);
      platform.time.now += 4_000;
      await idle();
      assert.equal(ordersAt(proxy), 2);
      assert.equal((await certificate()).status, "issued");
    });

  test("ends visibly: an expired certificate is failing, with attention, and is tried again at least ten times in its life", async (t) => {
    const { platform, project, proxy, add, idle, certificate } = await openScene(t);
    await add();
    const { now } = platform.time;
    const { db } = platform.service;
    const life = { from: now, to: now + 5 * minuteMs };
    await db.write((tx) => tx.query(sql`UPDATE certificates SET not_before = ${life.from}, not_after = ${life.to}`));
    await db.write((tx) =>
      tx.query(
        sql`UPDATE domains SET certificate_issued_at = ${life.from}, certificate_expires_at = ${life.to}, certificate_due_at = ${life.to - minuteMs}`,
      ),
    );
    proxy.intercept = { before: ({ path }) => (path === "/order-plz" ? { status: 503 } : undefined) };
    platform.time.now = life.to - minuteMs;
    for (let tries = 0; tries < 3; tries++) {
      await idle();
      const failed = await certificate();
      assert.deepEqual([failed.status, Date.parse(failed.retryAt!) - platform.time.now], [tries < 2 ? "issued" : "failing", minuteMs / 2]);
      platform.time.now += minuteMs / 2;
    }
    platform.time.now = life.to + 31 * minuteMs;
    const domain = await platform.domain(project, "www.shop.test");
    assert.match(domain.attention?.message ?? "", /has expired/);
    proxy.intercept = {};
    await idle();
    assert.equal((await certificate()).status, "issued");
  });

  test("that ends while nothing tries to renew it shows as failing too", async (t) => {
    const { platform, add, certificate } = await openScene(t);
    await add();
    platform.time.now = Date.parse((await certificate()).expiresAt!);
    assert.deepEqual(
      [(await certificate()).status, (await certificate()).problem],
      ["failing", "The certificate has expired, and has not been renewed."],
    );
  });
});

suite("problems", () => {
  test("show the last check: a certificate that is issued after its CAA records were corrected leaves none", async (t) => {
    const { platform, project, add, idle } = await openScene(t);
    platform.dns.set("shop.test", "CAA", ['0 issue "elsewhere.test"']);
    await add();
    const codes = async () => (await platform.domain(project, "www.shop.test")).problems.map(({ code }) => code);
    assert.deepEqual(await codes(), ["caa_blocks"]);
    platform.dns.set("shop.test", "CAA", []);
    platform.time.now += minuteMs;
    await idle();
    const after = await platform.domain(project, "www.shop.test");
    assert.deepEqual([after.certificate.status, after.problems], ["issued", []]);
  });

  test("are as true after a passing failure of DNS", async (t) => {
    const { platform, project, add, idle } = await openScene(t);
    platform.dns.fail("shop.test", "servfail", ["CAA"]);
    await add();
    const shown = async () => {
      const { problems, certificate } = await platform.domain(project, "www.shop.test");
      return [certificate.status, ...problems.map(({ code }) => code)];
    };
    assert.deepEqual(await shown(), ["failing", "lookup_failed"]);
    platform.dns.heal("shop.test");
    platform.time.now += minuteMs;
    await idle();
    assert.deepEqual(await shown(), ["issued"]);
  });

  test("that only the operator can solve say so", async (t) => {
    const { platform, project, add } = await openScene(t);
    platform.dns.set("sites.test", "CAA", ['0 issue "elsewhere.test"']);
    await add();
    const [problem] = (await platform.domain(project, "www.shop.test")).problems;
    assert.equal(problem?.code, "caa_blocks");
    assert.match(problem?.fix ?? "", /^You cannot correct this: the operator of this service has to change the CAA records of sites\.test/);
  });
});

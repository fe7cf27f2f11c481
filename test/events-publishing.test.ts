import assert from "node:assert/strict";
import { test } from "node:test";
import { claimTroubles, openTroublesWorker } from "../src/publishing/domains/checks.ts";
import { openScene } from "./support/certifying.ts";
import { loggedEvents, requireWhole, type LoggedEvent } from "./support/event-log.ts";
import { testOnce } from "./support/service.ts";
import { packSite } from "./support/sites.ts";

const minuteMs = 60_000;
const publishing = /^(project|deployment|domain|certificate)\./;
const shown = ({ type, resource, actor }: LoggedEvent): string => `${type} ${resource.id} by ${actor.type}`;

/** A deployed project, whose events a test reads since it last read them. */
async function openShop(...[t, options]: Parameters<typeof openScene>) {
  const scene = await openScene(t, options);
  const { service } = scene.platform;
  let reached = 0;
  const events = async (): Promise<LoggedEvent[]> => {
    const all = await loggedEvents(service.db, service.accountId, reached);
    reached = all.at(-1)?.position ?? reached;
    return all.filter(({ type }) => publishing.test(type));
  };
  return { ...scene, service, events };
}

test("projects and deployments are events that name who made, uploaded, promoted or deleted them", async (t) => {
  const { platform, service, project, events } = await openShop(t);
  const [made, switched, ready] = await events();
  const key = made!.actor;
  assert.deepEqual(
    [made, switched, ready].map((event) => shown(event!)),
    [
      `project.created ${project} by key`,
      `project.updated ${project} by system`,
      `deployment.ready ${String(switched!.data["deploymentId"])} by key`,
    ],
  );
  assert.deepEqual(switched!.previous, { deploymentId: null });
  assert.partialDeepStrictEqual(made!.data, { id: project, name: "rex", slug: "rex", deploymentId: null, redirectToPrimary: false });
  assert.deepEqual([ready!.actor, ready!.previous], [key, { status: "queued", files: 0, bytes: 0 }]);
  const first = ready!.resource.id;
  const body = await packSite({ "index.html": "two", "petstore.json": "{}" });
  const headers = { "content-type": "application/gzip", "x-request-id": "upload-two" };
  await service.ask("POST", `/projects/${project}/deployments`, { body, headers });
  await service.publishing.idle();
  await platform.deploy(project, { "index.html": "three" }, { petstore: { name: 7 } });
  const [, second, failed] = await events();
  assert.deepEqual([second!.type, second!.requestId, second!.actor], ["deployment.ready", "upload-two", key]);
  assert.deepEqual([failed!.type, failed!.actor, failed!.data["status"]], ["deployment.failed", key, "failed"]);
  assert.equal(failed!.previous["error"], null);
  const promote = () => service.ask("POST", `/projects/${project}/deployments/${first}/promote`);
  await promote();
  await promote();
  await service.ask("PATCH", `/projects/${project}`, { body: { name: "Rex's" } });
  await service.ask("PATCH", `/projects/${project}`, { body: { name: "Rex's" } });
  await service.ask("DELETE", `/projects/${project}`);
  const rest = await events();
  assert.deepEqual(rest.map(shown), [
    `project.updated ${project} by key`,
    `deployment.promoted ${first} by key`,
    `project.updated ${project} by key`,
    `project.deleted ${project} by key`,
  ]);
  assert.deepEqual([rest[0]!.previous, rest[2]!.previous], [{ deploymentId: second!.resource.id }, { name: "rex" }]);
  requireWhole(await loggedEvents(service.db, service.accountId));
});

test("a domain that is added, verified, certified, made primary, renewed, broken and removed is an event each time", async (t) => {
  const { platform, service, project, add, idle, certificate, events } = await openShop(t);
  await events();
  await add();
  const name = "www.shop.test";
  const [added, verified, issued] = await events();
  assert.deepEqual(
    [added, verified, issued].map((event) => shown(event!)),
    [`domain.added ${name} by key`, `domain.verified ${name} by system`, `certificate.issued ${name} by system`],
  );
  assert.partialDeepStrictEqual(added!.data, { hostname: name, projectId: project, kind: "subdomain", status: "pending" });
  assert.equal(verified!.previous["status"], "pending");
  assert.partialDeepStrictEqual(issued!.data, { hostname: name, status: "issued", problem: null });
  assert.equal(issued!.previous["issuedAt"], null);
  await service.ask("PATCH", `/projects/${project}/domains/${name}`, { body: { primary: true } });
  await service.ask("PATCH", `/projects/${project}/domains/${name}`, { body: { primary: true } });
  platform.dns.set("old.shop.test", "CNAME", ["sites.test"]);
  await platform.addDomain(project, "old.shop.test");
  await service.ask("PATCH", `/projects/${project}/domains/old.shop.test`, { body: { redirect: { to: name } } });
  const names = (await events()).filter(({ type }) => type === "project.updated");
  assert.deepEqual(
    names.map(({ previous, data }) => [previous["domains"], data["domains"]]),
    [
      [
        { primary: null, redirects: [] },
        { primary: name, redirects: [] },
      ],
      [
        { primary: name, redirects: [] },
        { primary: name, redirects: [{ from: "old.shop.test", to: name, status: 301 }] },
      ],
    ],
  );
  await service.ask("DELETE", `/projects/${project}/domains/old.shop.test`);
  await events();
  platform.time.now = Date.parse((await certificate()).expiresAt!) - minuteMs;
  await idle();
  assert.deepEqual((await events()).filter(({ type }) => type.startsWith("certificate")).map(shown), [
    `certificate.renewed ${name} by system`,
  ]);
  platform.dns.set(name, "CNAME", ["elsewhere.test"]);
  await service.ask("POST", `/projects/${project}/domains/${name}/verify`);
  await service.ask("POST", `/projects/${project}/domains/${name}/verify`);
  await service.ask("DELETE", `/projects/${project}/domains/${name}`);
  const broken = await events();
  assert.deepEqual(broken.map(shown), [
    `domain.failing ${name} by key`,
    `domain.attention ${name} by key`,
    `domain.removed ${name} by key`,
  ]);
  assert.equal(broken[0]!.previous["status"], "verified");
  requireWhole(await loggedEvents(service.db, service.accountId));
});

testOnce("a certificate that fails again and again is one event, and the names of a deleted project are removed first", async (t) => {
  const { platform, project, add, idle, events } = await openShop(t);
  platform.dns.set("shop.test", "CAA", ['0 issue "another.test"']);
  await events();
  await add();
  for (let i = 0; i < 5; i++) {
    platform.time.now += 15 * minuteMs;
    await idle();
  }
  const found = (await events()).filter(({ type }) => type.startsWith("certificate"));
  assert.deepEqual(found.map(({ type }) => type).toSorted(), ["certificate.failing"]);
  assert.notEqual(found.find(({ type }) => type === "certificate.failing")!.data["problem"], null);
  await service(platform).ask("DELETE", `/projects/${project}`);
  assert.deepEqual(
    (await events()).map(({ type }) => type),
    ["domain.removed", "project.deleted"],
  );
});

testOnce(
  "a name that needs its owner is one event for each trouble, however long it lasts, and another one if it comes again",
  async (t) => {
    const { platform, service: own, project, add, idle, certificate, events } = await openShop(t);
    const name = "www.shop.test";
    const attention = async () => (await events()).filter(({ type }) => type === "domain.attention");
    const troubles = async () => (await attention()).map(({ data, previous }) => [previous["troubles"], data["troubles"]]);
    const later = async (ms: number) => {
      platform.time.now += ms;
      await idle();
    };
    const verify = () => own.ask("POST", `/projects/${project}/domains/${name}/verify`);
    platform.dns.set("shop.test", "CAA", ['0 issue "another.test"']);
    await add();
    await later(29 * minuteMs);
    assert.deepEqual(await troubles(), []);
    await later(2 * minuteMs);
    const [late] = await attention();
    assert.deepEqual(
      [shown(late!), late!.data["troubles"], late!.previous],
      [`domain.attention ${name} by system`, ["certificate_missing"], { troubles: [] }],
    );
    for (let i = 0; i < 3; i++) await later(60 * minuteMs);
    assert.deepEqual(await troubles(), []);

    platform.dns.set("shop.test", "CAA", []);
    await verify();
    await idle();
    const { issuedAt, expiresAt } = await certificate();
    assert.deepEqual(await troubles(), []);

    platform.dns.set(name, "CNAME", ["elsewhere.test"]);
    await verify();
    await verify();
    assert.deepEqual(await troubles(), [[[], ["dns_wrong"]]]);
    platform.dns.set(name, "CNAME", ["sites.test"]);
    await verify();
    assert.deepEqual(await troubles(), []);
    await own.administration["accounts.setPlan"]({ id: own.accountId, plan: "free" });
    await later(5_000);
    await own.administration["accounts.setPlan"]({ id: own.accountId, plan: "free" });
    await later(5_000);
    assert.deepEqual(await troubles(), [[[], ["plan_required"]]]);
    await own.administration["accounts.setPlan"]({ id: own.accountId, plan: "business" });
    await later(5_000);

    platform.dns.set("shop.test", "CAA", ['0 issue "another.test"']);
    const [from, until] = [Date.parse(issuedAt!), Date.parse(expiresAt!)];
    platform.time.now = until - Math.floor((until - from) / 4);
    await verify();
    await later(0);
    assert.deepEqual(await troubles(), []);
    platform.time.now = until - Math.floor((until - from) / 7);
    await later(0);
    await later(60 * minuteMs);
    assert.deepEqual(await troubles(), [[[], ["certificate_not_renewed"]]]);
    platform.time.now = until;
    await later(0);
    await later(60 * minuteMs);
    assert.deepEqual(await troubles(), [[["certificate_not_renewed"], ["certificate_missing"]]]);
    requireWhole(await loggedEvents(own.db, own.accountId));
  },
);

test("nodes that look at the troubles of a name at the same time record one event, also if one of them ended before it had", async (t) => {
  const { platform, service: own, add, idle, events } = await openShop(t);
  platform.dns.set("shop.test", "CAA", ['0 issue "another.test"']);
  const names = ["a.shop.test", "b.shop.test", "c.shop.test"];
  for (const name of names) await add(name);
  await events();
  platform.time.now += 31 * minuteMs;
  const clock = () => platform.time.now;
  const onError = (error: unknown) => assert.fail(String(error));
  const nodes = Array.from({ length: 3 }, () => openTroublesWorker({ db: own.db, clock, onError }));
  t.after(() => Promise.all(nodes.map((node) => node.stop())));
  await own.db.write((tx) => claimTroubles(tx, 1, clock())); // by a node that ends with the name in hand
  await Promise.all([...nodes, { idle }].map((node) => node.idle()));
  platform.time.now += minuteMs;
  await Promise.all([...nodes, { idle }].map((node) => node.idle()));
  const noted = (await events()).filter(({ type }) => type === "domain.attention");
  assert.deepEqual(noted.map(({ resource }) => String(resource.id)).toSorted(), names);
});

const service = ({ service: own }: Awaited<ReturnType<typeof openScene>>["platform"]) => own;

testOnce("a name that another account proves to own is removed from the holder's log by the system, not by the other's key", async (t) => {
  const { platform, service: own, project, add, events } = await openShop(t);
  await add();
  await events();
  const other = await own.newAccount("business");
  const theirs = await platform.project("other", { "index.html": "x" }, { key: other.key });
  const taken = await platform.addDomain(theirs, "www.shop.test", other.key);
  const { challenge } = taken.body as unknown as { challenge: { name: string; value: string } };
  platform.dns.set(challenge.name, "TXT", [challenge.value]);
  assert.equal((await platform.addDomain(theirs, "www.shop.test", other.key)).status, 201);
  const [removed] = await events();
  assert.deepEqual([removed!.type, removed!.actor, removed!.requestId], ["domain.removed", { type: "system", id: null }, null]);
  assert.equal(removed!.data["projectId"], project);
  const gained = (await loggedEvents(own.db, other.id)).find(({ type }) => type === "domain.added");
  assert.equal(gained!.actor.type, "key");
});

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parse } from "csv-parse/sync";
import sql from "sql-template-tag";
import { resetFactors, setRole } from "../src/callers/members/members.store.ts";
import { readAudit } from "../src/events/log/audit.store.ts";
import { auditTypes } from "../src/events/log/audit.ts";
import { expireEvents } from "../src/events/log/retention.ts";
import { runCommand } from "./support/commands.ts";
import { newMember, type Browser } from "./support/dashboard.ts";
import { allNumbered, type LoggedEvent } from "./support/event-log.ts";
import { temporaryFolder } from "./support/folder.ts";
import type { Failure } from "./support/models.ts";
import { startService, type TestService } from "./support/service.ts";
import { newCategory, newPet } from "./support/shop.ts";

let service: TestService;
before(async () => void (service = await startService()));
after(() => service.close());

type Shown = Omit<LoggedEvent, "actor"> & { actor: { type: string; id: number | null; name: string | null } };
type Page = { events: Shown[]; next: number | null };
let people = 0;

/** An account with an owner who has signed in. */
async function openShop() {
  const account = await service.newAccount();
  people += 1;
  const email = `owner${people}@shop.example`;
  const owner = await newMember(service, { account: account.id, email, role: "owner" });
  const list = async (query = "") => {
    await allNumbered(service.db);
    const { status, body } = await owner.ask<Page>("GET", `/audit${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  return { ...account, email, owner, list };
}

const exported = async ({ cookie }: Browser, query = "") => {
  await allNumbered(service.db);
  const response = await fetch(`${service.address}/dashboard/v1/audit/export${query}`, { headers: { cookie } });
  return { response, text: await response.text() };
};
const typesOf = ({ events }: Page) => events.map(({ type }) => type);

test("an owner reads who did what, the newest first, with names, and filters by type, actor, resource, request and time", async () => {
  const { key, email, owner, list } = await openShop();
  const headers = { "x-request-id": "make-hook" };
  const made = await owner.ask<{ id: number }>("POST", "/webhooks", { url: "https://hooks.example.com/x", types: ["order.*"] }, headers);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  await newPet(service, (await newCategory(service, "Dogs", key)).id, {}, key);
  const all = await list();
  assert.deepEqual(typesOf(all), ["webhook.created", "member.signed_in", "member.invited", "key.created"]);
  assert.equal(all.next, null);
  const [hook, signedIn, invited] = all.events;
  assert.deepEqual([hook!.actor.name, hook!.actor.type, hook!.requestId], [email, "member", "make-hook"]);
  assert.equal(invited!.actor.type, "operator");
  const me = `member/${signedIn!.actor.id}`;
  assert.deepEqual(typesOf(await list(`?actor=${me}`)), ["webhook.created", "member.signed_in"]);
  assert.deepEqual(typesOf(await list(`?resource=${me}&types=member.*`)), ["member.signed_in", "member.invited"]);
  assert.deepEqual(typesOf(await list("?requestId=make-hook")), ["webhook.created"]);
  assert.deepEqual(typesOf(await list("?types=pet.created,category.*")), ["pet.created", "category.created"]);
  assert.deepEqual(typesOf(await list("?from=2000-01-01T00:00:00Z&to=2001-01-01T00:00:00Z")), []);
  assert.equal((await list("?from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z")).events.length, 4);
  const first = await list("?limit=3");
  assert.deepEqual([typesOf(first).length, typesOf(await list(`?limit=3&before=${first.next}`))], [3, ["key.created"]]);
  for (const query of ["?actor=me", "?resource=order", "?types=nothing.*", "?from=yesterday", "?limit=0", "?before=0", "?requestId="]) {
    const { status, body } = await owner.ask<Failure>("GET", `/audit${query}`);
    assert.deepEqual([status, body.code], [400, "invalid_request"], query);
  }
});

test("only an owner reads and exports the audit, and only of their own account", async () => {
  const { id, list } = await openShop();
  const other = await openShop();
  const clerk = await newMember(service, { account: id, email: "clerk@shop.example", role: "member" });
  for (const path of ["/audit", "/audit/export"]) {
    assert.equal((await clerk.ask("GET", path)).status, 403);
    assert.equal((await fetch(`${service.address}/dashboard/v1${path}`)).status, 401);
  }
  const mine = (await list("?limit=100")).events.filter(({ type }) => type === "key.created").map(({ resource }) => resource.id);
  assert.equal(mine.length, 1);
  assert.ok((await other.list("?limit=100")).events.every(({ resource }) => resource.type !== "key" || !mine.includes(resource.id)));
  assert.ok(!(await exported(other.owner)).text.includes("clerk@shop.example"));
});

test("the export is CSV in which a spreadsheet runs no formula, holds every event that passes the filters, and is itself an event", async () => {
  const { key, email, owner } = await openShop();
  for (const name of ["=1+1", "+cmd", "-2", "@sum", 'quoted ", comma']) await newCategory(service, name, key);
  await service.db.write((tx) => tx.query(sql`UPDATE keys SET name = ${"=HYPERLINK(0)"} WHERE hash IS NOT NULL`));
  const { response, text } = await exported(owner, "?types=category.*,key.*,member.*");
  assert.equal(response.headers.get("content-disposition"), 'attachment; filename="audit.csv"');
  assert.match(response.headers.get("content-type")!, /^text\/csv/);
  const rows = parse(text, { columns: true }) as Record<string, string>[];
  const categories = rows.filter(({ type }) => type === "category.created");
  assert.equal(categories.length, 5);
  for (const row of rows) for (const [column, cell] of Object.entries(row)) assert.doesNotMatch(cell, /^[=+\-@\t\r]/, column);
  assert.ok(categories.every(({ actorName }) => actorName === "'=HYPERLINK(0)"));
  assert.deepEqual((JSON.parse(categories[0]!["data"]!) as { name: string }).name, 'quoted ", comma');
  const again = parse((await exported(owner, "?types=member.exported")).text, { columns: true }) as Record<string, string>[];
  assert.ok(again.length >= 1 && again.every(({ type, actorName }) => type === "member.exported" && actorName === email));
});

test("events that only the audit keeps are shown and exported, and a filter that passes few events ends its page after 5,000", async () => {
  const { id: accountId, owner, list } = await openShop();
  await allNumbered(service.db);
  await service.db.write((tx) => tx.query(sql`UPDATE events SET at = ${Date.now() - 40 * 86_400_000} WHERE account_id = ${accountId}`));
  await service.db.write(async (tx) => {
    for (let i = 1; i <= 6_000; i++)
      tx.record({ accountId, type: "key.created", resource: { type: "key", id: 9_000_000 + i }, data: { id: i } });
  });
  await allNumbered(service.db);
  await expireEvents(service.db, Date.now(), { eventDaysKept: 30, auditDaysKept: 365 });
  const oldest = await readAudit(service.db, accountId, { ...unfiltered, resource: "key/9000001" }, undefined, 20);
  assert.ok(oldest.next !== null, "a page ends before it has looked at everything");
  const found = await list(`?resource=key/9000001&before=${oldest.next}`);
  assert.deepEqual([typesOf(found), found.next], [["key.created"], null]);
  const early = await list("?types=member.invited");
  assert.deepEqual(typesOf(early), ["member.invited"]);
  const rows = parse((await exported(owner, "?types=key.created")).text, { columns: true }) as object[];
  assert.equal(rows.length, 6_001);
});

test("a page of large events ends after 1 MiB and names the next one, and the export has them all", async () => {
  const { id: accountId, owner, list } = await openShop();
  const text = "x".repeat(300_000);
  await service.db.write(async (tx) => {
    for (let i = 1; i <= 8; i++)
      tx.record({ accountId, type: "webhook.updated", resource: { type: "webhook", id: i }, data: { id: i, text } });
  });
  await allNumbered(service.db);
  const ids: (number | string | null)[] = [];
  let page = await list("?types=webhook.*&limit=100");
  while (page.next !== null) {
    assert.equal(page.events.length, 3);
    ids.push(...page.events.map(({ resource }) => resource.id));
    page = await list(`?types=webhook.*&limit=100&before=${page.next}`);
  }
  ids.push(...page.events.map(({ resource }) => resource.id));
  assert.deepEqual(ids, [8, 7, 6, 5, 4, 3, 2, 1]);
  const rows = parse((await exported(owner, "?types=webhook.*")).text, { columns: true }) as Record<string, string>[];
  assert.deepEqual(
    rows.map(({ resourceId }) => Number(resourceId)),
    ids,
  );
});

const unfiltered = { types: auditTypes, actor: undefined, resource: undefined, requestId: undefined, from: undefined, to: undefined };

test("a change of a role and the removal of second factors are events, and setting the same role again is none", async () => {
  const { id: account, email, list } = await openShop();
  await newMember(service, { account, email: "second@shop.example", role: "member" });
  const [member] = (
    await service.db.query<{ id: number }>(sql`SELECT id FROM members WHERE account_id = ${account} AND role = 'member'`)
  ).map(({ id }) => id);
  for (const role of ["owner", "owner"] as const) await service.db.write((tx) => setRole(tx, account, member!, role));
  await service.db.write((tx) => resetFactors(tx, account, member!, email, Date.now()));
  const [reset, updated] = (await list(`?resource=member/${member}`)).events;
  assert.deepEqual(
    [updated!.type, updated!.data, updated!.previous],
    ["member.updated", { id: member, role: "owner" }, { role: "member" }],
  );
  assert.deepEqual([reset!.type, reset!.data], ["member.reset", { id: member }]);
});

test("petstore audit shows an operator the same events with the same filters, in pages, and writes them as CSV", async (t) => {
  const { id, key, email, owner, list } = await openShop();
  await newCategory(service, "=1+1", key);
  const folder = temporaryFolder(t);
  const run = (...words: string[]) => runCommand(["audit", "--account", String(id), ...words], { DATA_DIR: service.dataDir });
  const json = async (...words: string[]) => JSON.parse((await run(...words, "--json")).out) as Page;
  const all = await list();
  assert.deepEqual(await json(), { events: all.events, next: null });
  assert.match((await run()).out, RegExp(`member.signed_in +${email} +member/`));
  assert.deepEqual(typesOf(await json("--types", "category.*", "--types", "key.created")), ["category.created", "key.created"]);
  assert.deepEqual(typesOf(await json("--actor", "operator", "--resource", `key/${all.events.at(-1)!.resource.id}`)), ["key.created"]);
  assert.deepEqual(typesOf(await json("--to", "2001-01-01T00:00:00Z")), []);
  const first = await json("--limit", "2");
  assert.deepEqual(
    [typesOf(first), typesOf(await json("--before", String(first.next)))],
    [typesOf(all).slice(0, 2), typesOf(all).slice(2)],
  );

  await service.db.write(async (tx) => {
    for (let i = 1; i <= 250; i++)
      tx.record({ accountId: id, type: "webhook.updated", resource: { type: "webhook", id: i }, data: { id: i } });
  });
  await allNumbered(service.db);
  const rowsOf = (text: string): Record<string, string>[] => parse(text, { columns: true });
  const file = join(folder, "audit.csv");
  assert.match((await run("--csv", file)).out, /^253 events in /);
  assert.deepEqual(
    rowsOf(readFileSync(file, "utf8")),
    rowsOf((await exported(owner, "")).text).filter(({ type }) => type !== "member.exported"),
  );
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const part = await run("--csv", "-", "--types", "webhook.*,category.*", "--limit", "120");
  assert.equal(rowsOf(part.out).length, 120);
  assert.match(part.error, /^There are more: go on with --before [0-9]+\n$/);
  assert.ok(!rowsOf((await run("--csv", "-", "--types", "category.*")).out)[0]!["data"]!.startsWith("="));

  for (const [wrong, code] of [
    [["--account", "999"], 3],
    [["--types", "nothing.*"], 2],
    [["--actor", "me"], 2],
    [["--from", "yesterday"], 2],
    [["--limit", "0"], 2],
    [["--limit", "100001"], 2],
    [["--before", "0"], 2],
    [["--csv", "-", "--json"], 2],
    [["--csv", join(folder, "absent", "audit.csv")], 2],
  ] as const)
    assert.equal((await run(...wrong)).code, code, wrong.join(" "));
});

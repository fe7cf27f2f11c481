import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { done, refused, settingsOf } from "./support/backups.ts";
import { runCommand } from "./support/commands.ts";
import { newMember } from "./support/dashboard.ts";
import { temporaryFolder } from "./support/folder.ts";
import { ann, openForm, postForm } from "./support/reservations.ts";
import { engine, startService, type TestService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";
import { openStorefront } from "./support/storefront.ts";

type Found = {
  contacts: { orderId: number }[];
  enquiries: { reservationId: number }[];
  members: { email: string; sessions: object[] }[];
  isWhole: boolean;
  deleted?: number;
};

let service: TestService;
let env: Record<string, string>;
/** How far (ms) the service's clock is ahead. */
let aheadMs = 0;
before(async () => {
  service = await startService({ clock: () => Date.now() + aheadMs });
  env = await settingsOf(service.dataDir);
});
after(() => service.close());

/** An order with this contact. */
async function ordered(contact: object, key = service.key): Promise<number> {
  const { id } = await made<{ id: number }>(service, "POST", "/store/orders", {}, key);
  await made(service, "PUT", `/store/orders/${id}/contact`, contact, key);
  return id;
}

test("privacy finds what an account keeps about a person by email, phone in any spelling and name, and nobody else", async () => {
  const { id: account, key } = await service.newAccount();
  const member = await newMember(service, { account, email: "ann@example.com", role: "owner" });
  const byEmail = await ordered({ name: "A. Smith", email: "Ann@Example.com", phone: "0123 456" }, key);
  const byPhone = await ordered({ phone: "+44 20 7946 0958", address: "1 High St" }, key);
  const byNote = await ordered({ name: "Bob", note: "Ask ann@example.com, or 020 79460958." }, key);
  const byName = await ordered({ name: "Dr. SMITH, Ann" }, key);
  await ordered({ name: "Joanne Smith", email: "joann@example.com", phone: "+44 20 7946 0959" }, key);
  await ordered({ name: "Ann Smith", email: "ann@example.com" });
  const find = async (...words: string[]) => done<Found>(env, "privacy", "--account", String(account), ...words);
  const ordersOf = ({ contacts }: Found) => contacts.map(({ orderId }) => orderId);
  const found = await find("--email", "ANN@example.com");
  assert.deepEqual(ordersOf(found), [byEmail, byNote]);
  assert.deepEqual(
    found.members.map(({ email, sessions }) => [email, sessions.length]),
    [["ann@example.com", 1]],
  );
  assert.ok(found.isWhole && member);
  assert.deepEqual(ordersOf(await find("--phone", "(020) 7946-0958")), [byPhone, byNote]);
  assert.deepEqual(ordersOf(await find("--name", "ann smith")), [byName]);
  assert.deepEqual(ordersOf(await find("--name", "ann smith", "--phone", "020 7946 0958")), [byPhone, byNote, byName], "by any of them");
  assert.deepEqual((await find("--name", "Nobody")).contacts, []);
  const nobody = await runCommand(["privacy", "--account", String(account)], env);
  assert.deepEqual([nobody.code, nobody.error.includes("--email, --phone or --name")], [2, true]);
  await refused(env, /at least 5 digits/, "privacy", "--account", String(account), "--phone", "12");
});

test("privacy finds a telephone number whatever stands between its digits, and beside another number", async () => {
  const { id: account, key } = await service.newAccount();
  const same: object[] = [
    ..."\u00A0\u202F\u2009\u3000\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u00AD\u200B\u2060./-·"
      .split("")
      .flatMap((mark) => [{ phone: `+49${mark}170${mark}1234567` }, { name: "Ann", note: `Call 0170${mark}123${mark}4567${mark}!` }]),
    { phone: "\u202A+49 170 1234567\u202C" },
    { phone: "＋４９ １７０ １２３４５６７" },
    { phone: "0170_123~45'67" },
    { phone: "0170 1234567 / 040 7654321" },
    { phone: "040 7654321 / 0170 1234567" },
    { address: "0170 1234567\n040 7654321" },
    { note: "040 7654321, 0170 1234567, 12345 Ulm" },
  ];
  const wanted: number[] = [];
  for (const contact of same) wanted.push(await ordered(contact, key));
  const others = [{ phone: "0170–1234568" }, { note: "0170 12345678" }, { note: "0170, 1234567" }, { phone: "34567" }];
  for (const contact of others) await ordered(contact, key);
  const words = ["privacy", "--account", String(account), "--phone"];
  for (const spelling of ["0170 1234567", "+49\u00A0170\u00A01234567", "０１７０–1234567"]) {
    const { contacts } = await done<Found>(env, ...words, spelling);
    assert.deepEqual(
      contacts.map(({ orderId }) => same[wanted.indexOf(orderId)]),
      same,
      spelling,
    );
  }
  assert.equal((await done<Found>(env, ...words, "0170 1234567", "--delete")).deleted, same.length);
  const left = await service.db.query(sql`SELECT 1 FROM contacts WHERE account_id = ${account}`);
  assert.equal(left.length, others.length);
  await ordered({ note: "Write to bob@example.com." }, key);
  const { contacts } = await done<Found>(env, "privacy", "--account", String(account), "--email", "bob@example.com");
  assert.equal(contacts.length, 1, "an email at the end of a sentence");
});

test("privacy --delete deletes the contacts that it finds, at once, and no order", async () => {
  const { id: account, key } = await service.newAccount();
  const [gone, kept] = [await ordered({ email: "ann@example.com" }, key), await ordered({ email: "bob@example.com" }, key)];
  const words = ["privacy", "--account", String(account), "--email", "ann@example.com"];
  assert.equal((await done<Found>(env, ...words, "--delete")).deleted, 1);
  assert.equal((await done<Found>(env, ...words)).contacts.length, 0);
  const status = async (path: string) => (await service.ask("GET", path, { key })).status;
  assert.deepEqual(
    [await status(`/store/orders/${gone}/contact`), await status(`/store/orders/${gone}`), await status(`/store/orders/${kept}/contact`)],
    [404, 200, 200],
  );
});

test("privacy finds and deletes what visitors wrote in a storefront: the contact of a reservation and that of an enquiry", async () => {
  const { id: account, key } = await service.newAccount();
  const category = await newCategory(service, "Dogs", key);
  const [counted, other] = [await newPet(service, category.id, {}, key), await newPet(service, category.id, {}, key)];
  await made(service, "PUT", `/store/inventory/${counted.id}`, { quantity: 2 }, key);
  const { url } = await openStorefront(service, "visited", { reservations: { enabled: true } }, { key });
  const send = async (petId: number, email: string): Promise<void> => {
    const hidden = await openForm(url, petId);
    aheadMs += 5_000;
    assert.equal((await postForm(url, `/animals/${petId}/reserve`, { ...hidden, ...ann, email })).status, 303);
  };
  await send(counted.id, ann.email);
  await send(other.id, ann.email);
  await send(other.id, "bob@example.com");
  type Sent = { id: number; orderId?: number; state: string };
  const sent = () => made<Sent[]>(service, "GET", "/reservations", undefined, key);
  const [reservation, enquiry] = await sent();
  const words = ["privacy", "--account", String(account), "--email", ann.email.toUpperCase()];
  const found = async () => {
    const { contacts, enquiries } = await done<Found>(env, ...words);
    return [contacts.map(({ orderId }) => orderId), enquiries.map(({ reservationId }) => reservationId)];
  };
  assert.deepEqual(await found(), [[reservation!.orderId], [enquiry!.id]]);
  assert.equal((await done<Found>(env, ...words, "--delete")).deleted, 2);
  assert.deepEqual(await found(), [[], []]);
  assert.deepEqual(
    (await sent()).map(({ state }) => state),
    ["open", "open", "open"],
    "reservations and enquiries stay",
  );
  const rows = JSON.stringify([
    await service.db.query(sql`SELECT * FROM reservations WHERE account_id = ${account}`),
    await service.db.query(sql`SELECT * FROM contacts WHERE account_id = ${account}`),
  ]);
  assert.ok(!rows.includes(ann.email) && rows.includes("bob@example.com"));
});

test("privacy reads a large shop in several calls, and finds and deletes contacts in all of them", async () => {
  const { id: account } = await service.newAccount();
  await service.db.write(async (tx) => {
    await tx.query(sql`
      INSERT INTO orders (account_id, id, quantity, held, complete, completed_at, version)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10600)
      SELECT accounts.id, n, 1, 0, TRUE, 0, 1 FROM accounts CROSS JOIN numbers WHERE accounts.id = ${account}`);
    await tx.query(sql`
      INSERT INTO contacts (account_id, order_id, name, completed_at, version)
      SELECT account_id, id, CASE WHEN id % 2 = 0 THEN 'Ann Smith' ELSE 'Bob' END, 0, 1 FROM orders WHERE account_id = ${account}`);
  });
  const words = ["privacy", "--account", String(account), "--name", "Ann Smith"];
  const { contacts, isWhole } = await done<Found>(env, ...words);
  assert.deepEqual([contacts.length, contacts.at(-1)!.orderId, isWhole], [5_300, 10_600, true]);
  assert.equal((await done<Found>(env, ...words, "--delete")).deleted, 5_300);
  const [left] = await service.db.query<{ count: number }>(sql`SELECT COUNT(*) AS count FROM contacts WHERE account_id = ${account}`);
  assert.equal(left!.count, 5_300);
  await service.administration["accounts.delete"]({ id: account });
});

test("a backup and a restore keep contacts, and verify finds one that would never be deleted", async (t) => {
  const orderId = await ordered({ name: "Ann Smith", note: "Backed up" });
  await made(service, "PATCH", `/store/orders/${orderId}`, { complete: true });
  const file = join(temporaryFolder(t), "backup.tar.gz");
  await done(env, "backup", file);
  await service.db.write((tx) => tx.query(sql`UPDATE contacts SET completed_at = NULL WHERE completed_at IS NOT NULL`));
  const dataDir = join(temporaryFolder(t), "data");
  const place: Record<string, string> = { DATA_DIR: dataDir };
  if (engine === "postgres") {
    const { newDatabase } = await import("./support/postgres.ts");
    const { url, drop } = await newDatabase(dataDir);
    t.after(drop);
    Object.assign(place, { DATABASE_URL: url, SECRETS_KEY: env["SECRETS_KEY"] });
  }
  await done(place, "restore", file);
  const restored = await startService({ dataDir, env: { ...place, DATABASE_URL: place["DATABASE_URL"] ?? "" } });
  t.after(() => restored.close());
  const { body } = await restored.ask<object>("GET", `/store/orders/${orderId}/contact`, { key: service.key });
  assert.deepEqual(body, { name: "Ann Smith", note: "Backed up" });
  const { code, out } = await runCommand(["verify"], env);
  assert.equal(code, 1);
  assert.match(out, /the contact of order \d+ of account \d+ has no time of completion/);
});

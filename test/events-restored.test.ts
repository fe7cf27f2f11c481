import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import sql from "sql-template-tag";
import type { ShopEvent } from "../client/events.ts";
import { recordedEvent, systemOrigin } from "../src/platform/events.ts";
import { runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { addressOf, createAccount, spawnServer } from "./support/process.ts";
import { ask, startService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";
import { until } from "./support/until.ts";

type Checked = { whole: boolean; faults: string[]; events?: { events: number; resources: number; unchecked: number } };

test("verify --events checks the event logs of a data folder and of a backup, and finds a row that differs from its newest event", async (t) => {
  const folder = temporaryFolder(t);
  const service = await startService();
  t.after(() => service.close());
  const { id } = await newCategory(service, "Dogs");
  const pet = await newPet(service, id, { name: "Rex" });
  await made(service, "PUT", `/store/inventory/${pet.id}`, { quantity: 5 });
  const env = { DATA_DIR: service.dataDir };
  const verify = async (...words: string[]) => {
    const { code, out, error } = await runCommand(["verify", ...words, "--json"], env);
    assert.equal(error, "");
    return { code, ...(JSON.parse(out) as Checked) };
  };
  const backUp = async (name: string): Promise<string> => {
    const { code, error } = await runCommand(["backup", join(folder, name)], env);
    assert.equal(code, 0, error);
    return join(folder, name);
  };
  for (const place of [[], [await backUp("whole.tar.gz")]]) {
    const { code, whole, events } = await verify(...place, "--events");
    assert.deepEqual([code, whole, events?.resources, events?.unchecked], [0, true, 3, 0], String(place));
    assert.ok((events?.events ?? 0) >= 3);
    assert.equal((await verify(...place)).events, undefined, "only when it is asked for");
    const { out } = await runCommand(["verify", ...place, "--events"], env);
    assert.match(out, /The event logs are whole: \d+ events, and 3 resources as the newest event says\./);
  }

  await service.db.write((tx) => tx.query(sql`UPDATE pets SET name = 'Max' WHERE id = ${pet.id}`));
  const changed = await backUp("changed.tar.gz");
  for (const place of [[], [changed]]) {
    assert.equal((await verify(...place)).code, 0);
    const { code, whole, faults } = await verify(...place, "--events");
    assert.deepEqual([code, whole, faults.length], [1, false, 1], String(place));
    assert.match(faults[0] ?? "", new RegExp(`pet/${pet.id} of account ${service.accountId} is not as its newest event`));
  }
  await service.db.write((tx) => tx.query(sql`UPDATE pets SET name = 'Rex' WHERE id = ${pet.id}`));
  await service.db.write((tx) => tx.query(sql`UPDATE events SET hash = 'x' WHERE resource = ${`pet/${pet.id}`}`));
  const broken = await verify(await backUp("broken.tar.gz"), "--events");
  assert.deepEqual([broken.code, broken.faults.some((fault) => /is broken at event \d+/.test(fault))], [1, true]);
});

test("events that came without positions from a backup of PostgreSQL have them as soon as the service starts, before any change", async (t) => {
  const dataDir = temporaryFolder(t);
  const key = await createAccount(dataDir);
  const database = new DatabaseSync(join(dataDir, "petstore.db"));
  const insert = database.prepare(
    "INSERT INTO event_outbox (id, account_id, type, at, resource, actor, head, tail) SELECT ?, id, ?, ?, ?, ?, ?, ? FROM accounts",
  );
  for (const [i, name] of ["one", "two"].entries()) {
    const draft = { accountId: 1, type: "category.updated", resource: { type: "category", id: 1 }, data: { id: 1, name } } as const;
    const { type, at, resource, actor, head, tail } = recordedEvent(draft, systemOrigin, () => Date.now());
    insert.run(i + 1, type, at, resource, actor, head, tail);
  }
  database.close();

  const address = await addressOf(spawnServer(t, dataDir));
  const events = async () => (await ask<ShopEvent[]>(`${address}/v1/events?types=category.updated`, "GET", { key })).body;
  await until(async () => (await events()).length === 2);
  const [one, two] = await events();
  assert.deepEqual(
    [one?.data, two?.data].map((data) => (data as { name: string }).name),
    ["one", "two"],
  );
  assert.equal(two!.position, one!.position + 1);
});

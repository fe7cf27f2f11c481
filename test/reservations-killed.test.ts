import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import sql from "sql-template-tag";
import { dayMs } from "../src/platform/clock.ts";
import type { Database } from "../src/platform/db/database.ts";
import { systemOrigin } from "../src/platform/events.ts";
import { placeReservation } from "../src/store/reservations/reservation-answers.store.ts";
import { settingsOf } from "./support/backups.ts";
import { openAt } from "./support/databases.ts";
import { loggedEvents } from "./support/event-log.ts";
import { temporaryFolder } from "./support/folder.ts";
import { inherited } from "./support/process.ts";
import { startService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

const program = fileURLToPath(new URL("support/lapsing.ts", import.meta.url));
/** More steps than a lapse has. */
const stepsMax = 60;

/** The reservation, the animal's stock and the number of orders. */
const open = { state: "open", quantity: 0, held: 1, orders: 1 };
const lapsed = { state: "lapsed", quantity: 1, held: 0, orders: 0 };

async function stateIn(db: Database): Promise<typeof open> {
  const [row] = await db.query<typeof open>(sql`
    SELECT state, quantity, held, (SELECT COUNT(*) FROM orders) AS orders FROM reservations
    JOIN inventory ON inventory.account_id = reservations.account_id AND inventory.pet_id = reservations.pet_id`);
  return { ...row! };
}

test("a process that is killed at any step of a lapse leaves all of it undone or done, and there is one event of it after the restart", async (t) => {
  const dataDir = join(temporaryFolder(t), "data");
  const begun = Date.now();
  const service = await startService({ dataDir, clock: () => begun });
  const { accountId } = service;
  const { id: petId } = await newPet(service, (await newCategory(service, "Dogs")).id);
  await made(service, "PUT", `/store/inventory/${petId}`, { quantity: 1 });
  const asked = { petId, contact: { name: "Ann" }, holds: true, holdMs: dayMs, linkHash: "link", visitor: "visitor" };
  assert.equal(await service.db.write((tx) => placeReservation(tx, accountId, asked, systemOrigin, begun)), undefined);
  await service.close();

  const place = (await settingsOf(dataDir))["DATABASE_URL"] ?? join(dataDir, "petstore.db");
  const words = (step: number) => [program, place, String(begun + 2 * dayMs), String(step)];
  let state = open;
  let step = 1;
  for (; state.state === "open"; step++) {
    assert.ok(step <= stepsMax);
    const { signal, stderr } = spawnSync(process.execPath, words(step), { env: inherited(), encoding: "utf8" });
    assert.equal(signal, "SIGKILL", stderr);
    const db = openAt(place);
    state = await stateIn(db);
    await db.close();
    assert.deepEqual(state, state.state === "open" ? open : lapsed, `killed at step ${step}`);
  }
  assert.ok(step > 6, `${step} steps`);

  const again = await startService({ dataDir, clock: () => begun + 2 * dayMs });
  t.after(() => again.close());
  const types = (await loggedEvents(again.db, accountId)).map(({ type }) => type).filter((type) => /^(reservation|order)\./.test(type));
  assert.deepEqual(types, ["order.created", "reservation.created", "reservation.lapsed", "order.cancelled"]);
  assert.deepEqual(await stateIn(again.db), lapsed);
});

import { DatabaseSync } from "node:sqlite";
import { canonicalJson } from "../platform/canonical-json.ts";
import { emptyHead, hashAfter } from "../platform/events.ts";
import { formatDateTime } from "../platform/http/dates.ts";
import { attempt } from "../platform/parse.ts";
import type { Faults } from "./check-database.ts";
import type { Ask, Dump, Row } from "./dump.ts";

/** What the check of the events found: events and resources that it compared, and resources that it could not compare. */
export type CheckedEvents = { events: number; resources: number; unchecked: number };

const pageRows = 1_000;

/** A table of resources with events, and a resource as the API shows it. `expires`: whether time alone deletes such a resource, without an event. */
type Kind = { table: string; key: string; columns: string; shown: (row: Row) => object; expires?: (data: object) => boolean };
const kinds: Record<string, Kind> = {
  category: {
    table: "categories",
    key: "id",
    columns: "id, name, description, version",
    shown: ({ id, name, description }) => ({ id, name, ...(description !== null && { description }) }),
  },
  pet: {
    table: "pets",
    key: "id",
    columns: "id, name, category_id, status, version",
    shown: ({ id, name, category_id: categoryId, status }) => ({ id, name, categoryId, status }),
  },
  order: {
    table: "orders",
    key: "id",
    columns: "id, pet_id, quantity, ship_date, complete, version",
    shown: ({ id, pet_id: petId, quantity, ship_date: shipDate, complete }) => ({
      id,
      ...(petId !== null && { petId }),
      quantity,
      ...(shipDate !== null && { shipDate: formatDateTime(Number(shipDate)) }),
      complete: Boolean(complete),
    }),
  },
  reservation: {
    table: "reservations",
    key: "id",
    columns: "id, pet_id, order_id, state, created_at, lapses_at, ended_at, version",
    shown: ({ id, pet_id: petId, order_id: orderId, state, created_at: createdAt, lapses_at: lapsesAt, ended_at: endedAt }) => ({
      id,
      petId,
      ...(orderId !== null && { orderId }),
      state,
      createdAt: formatDateTime(Number(createdAt)),
      ...(lapsesAt !== null && { lapsesAt: formatDateTime(Number(lapsesAt)) }),
      ...(endedAt !== null && { endedAt: formatDateTime(Number(endedAt)) }),
    }),
    expires: (data) => "endedAt" in data,
  },
  inventory: {
    table: "inventory",
    key: "pet_id",
    columns: "pet_id, quantity, status, version",
    shown: ({ pet_id: petId, quantity, status }) => ({ petId, quantity, status }),
  },
};
/** The resource of these events is a pet, but they do not describe the pet's row. */
const ofProfiles = "pet.profile_updated";
const goneTypes = new Set(["category.deleted", "pet.deleted", "order.cancelled", "inventory.deleted"]);

/**
 * Checks that each account's log is whole, from where it is kept without gaps, and that the newest event of each pet, category, order,
 * reservation and inventory entry equals its row (specification 8.5). It cannot compare a resource whose last change is older than the log, still waits for its
 * position, or was made by a node of release 1.1.0 beside newer ones.
 */
export async function checkEvents({ ask, tables }: Dump, faults: Faults): Promise<CheckedEvents> {
  const checking: EventCheck = {
    ask,
    faults,
    checked: { events: 0, resources: 0, unchecked: 0 },
    hadOlderNodes: (await ask("SELECT 1 FROM older_nodes")).length > 0,
    waiting: new Set((await ask("SELECT DISTINCT account_id, resource FROM event_outbox")).map(placeOf)),
    rowsWithEvents: 0,
  };
  const { checked } = checking;
  using newest = openNewest();
  await checkChains(checking, newest);
  for (const places of newest.pages()) await checkNewest(await eventsAt(ask, places), checking);
  const counted = Object.values(kinds).filter(({ table }) => tables.some(({ name }) => name === table)); // an earlier release has fewer
  const counts = await Promise.all(counted.map(({ table }) => ask(`SELECT COUNT(*) AS count FROM ${table}`)));
  const rows = counts.reduce((sum, [row]) => sum + Number(row?.["count"]), 0);
  checked.unchecked += checking.waiting.size + rows - checking.rowsWithEvents;
  return checked;
}

type EventCheck = {
  ask: Ask;
  faults: Faults;
  checked: CheckedEvents;
  hadOlderNodes: boolean;
  /** Resources with events that wait for their position. */
  waiting: ReadonlySet<string>;
  /** Rows of resources that have an event. */
  rowsWithEvents: number;
};

type Place = { accountId: number; position: number };

/** The place of the newest event of each resource, in a temporary database: there may be millions, and no index has them. */
function openNewest() {
  const connection = new DatabaseSync("");
  connection.exec("CREATE TABLE newest (account_id, resource, position, PRIMARY KEY (account_id, resource)) WITHOUT ROWID");
  const keep = connection.prepare("INSERT OR REPLACE INTO newest VALUES (?, ?, ?)");
  const read = connection.prepare(`
    SELECT account_id, resource, position FROM newest WHERE (account_id, resource) > (?, ?) ORDER BY account_id, resource LIMIT ${pageRows}`);
  return {
    /** Keeps the places of a page of events, in their order. */
    add(page: readonly Row[]): void {
      connection.exec("BEGIN");
      for (const row of page)
        if (row["type"] !== ofProfiles) keep.run(Number(row["account_id"]), String(row["resource"]), Number(row["position"]));
      connection.exec("COMMIT");
    },
    *pages(): Generator<Place[]> {
      let after: [number, string] = [0, ""];
      for (;;) {
        const page = read.all(...after);
        if (page.length === 0) return;
        yield page.map((row) => ({ accountId: Number(row["account_id"]), position: Number(row["position"]) }));
        after = [Number(page.at(-1)!["account_id"]), String(page.at(-1)!["resource"])];
      }
    },
    [Symbol.dispose]: () => connection.close(),
  };
}

/** Checks each log from its start, and notes the newest event of each resource. */
async function checkChains({ ask, faults, checked }: EventCheck, newest: ReturnType<typeof openNewest>): Promise<void> {
  const starts = new Map(
    (await ask("SELECT account_id, position, previous_hash FROM event_starts")).map((row) => [Number(row["account_id"]), row]),
  );
  let at: Position = { accountId: 0, position: 0, hash: "" };
  for (;;) {
    const page = await ask(`
      SELECT account_id, position, type, at, resource, actor, request_id, text, hash FROM events
      WHERE (account_id, position) > (${at.accountId}, ${at.position}) ORDER BY account_id, position LIMIT ${pageRows}`);
    for (const row of page) at = checkChain(row, at, starts.get(Number(row["account_id"])), faults);
    newest.add(page);
    checked.events += page.length;
    if (page.length < pageRows) return;
  }
}

function eventsAt(ask: Ask, places: readonly Place[]): Promise<Row[]> {
  const pairs = places.map(({ accountId, position }) => `(${accountId}, ${position})`).join(", ");
  return ask(`SELECT account_id, position, type, resource, version, text FROM events WHERE (account_id, position) IN (VALUES ${pairs})`);
}

type Position = { accountId: number; position: number; hash: string };

/** Checks one event against the one before. Before the start of a log only audit events are kept, which form no chain. */
function checkChain(row: Row, before: Position, start: Row | undefined, faults: Faults): Position {
  const [accountId, position, hash] = [Number(row["account_id"]), Number(row["position"]), String(row["hash"])];
  const [first, firstHash] = start ? [Number(start["position"]), String(start["previous_hash"])] : [1, emptyHead.hash];
  const here = { accountId, position, hash };
  const where = `the event log of account ${accountId}`;
  if (!isAsItsText(row)) faults.add(`${where} is broken at event ${position}: its columns differ from its text`);
  if (position < first) return here;
  const isFirst = before.accountId !== accountId || before.position < first;
  const [expected, previousHash] = isFirst ? [first, firstHash] : [before.position + 1, before.hash];
  if (position !== expected) faults.add(`${where} has no event ${expected}: the next is ${position}`);
  else if (hashAfter(previousHash, String(row["text"])) !== hash)
    faults.add(`${where} is broken at event ${position}: its hash does not follow`);
  return here;
}

/** Whether the columns by which an event is found agree with its text, which the hash proves. */
function isAsItsText(row: Row): boolean {
  const event = eventOf(row);
  if (!event) return false;
  const { actor, resource } = event;
  const named = actor.id === null ? actor.type : `${actor.type}/${actor.id}`;
  return (
    event.position === Number(row["position"]) &&
    event.type === row["type"] &&
    event.at === formatDateTime(Number(row["at"])) &&
    event.requestId === row["request_id"] &&
    named === row["actor"] &&
    `${resource.type}/${resource.id}` === row["resource"]
  );
}

async function checkNewest(events: readonly Row[], checking: EventCheck): Promise<void> {
  const groups = Map.groupBy(events, (event) => `${String(event["account_id"])} ${String(event["resource"]).split("/", 1).join("")}`);
  for (const [group, own] of groups) {
    const [accountId = "", name = ""] = group.split(" ");
    const kind = kinds[name];
    if (!kind) continue;
    const ids = own.map((event) => Number(String(event["resource"]).slice(name.length + 1)));
    const rows = await checking.ask(
      `SELECT ${kind.columns} FROM ${kind.table} WHERE account_id = ${Number(accountId)} AND ${kind.key} IN (${ids.join(", ")})`,
    );
    const byId = new Map(rows.map((row) => [Number(row[kind.key]), row]));
    checking.rowsWithEvents += rows.length;
    for (const [i, event] of own.entries()) if (!checking.waiting.has(placeOf(event))) compare(event, byId.get(ids[i]!), kind, checking);
  }
}

function compare(event: Row, row: Row | undefined, { shown, expires }: Kind, { faults, checked, hadOlderNodes }: EventCheck): void {
  checked.resources += 1;
  const isGone = goneTypes.has(String(event["type"]));
  const { data = {} } = eventOf(event) ?? {};
  const isSame = row === undefined ? isGone || expires?.(data) === true : !isGone && canonicalJson(shown(row)) === canonicalJson(data);
  if (isSame) return;
  const isLater = row === undefined || Number(row["version"]) > Number(event["version"]);
  if (hadOlderNodes && isLater) {
    checked.resources -= 1;
    checked.unchecked += 1;
    return;
  }
  const what = `${String(event["resource"])} of account ${String(event["account_id"])}`;
  const says = `its newest event (position ${String(event["position"])})`;
  if (row === undefined) faults.add(`${what} is gone, and ${says} says that it is there`);
  else faults.add(isGone ? `${what} is there, and ${says} says that it is gone` : `${what} is not as ${says} says`);
}

type ParsedEvent = {
  position: number;
  type: string;
  at: string;
  actor: { type: string; id: number | null };
  requestId: string | null;
  resource: { type: string; id: number | string };
  data: object;
};

function eventOf(event: Row): ParsedEvent | undefined {
  return attempt(() => {
    const parsed = JSON.parse(String(event["text"])) as ParsedEvent;
    return typeof parsed.actor === "object" && typeof parsed.resource === "object" ? parsed : undefined;
  });
}

function placeOf(row: Row): string {
  return `${String(row["account_id"])} ${String(row["resource"])}`;
}

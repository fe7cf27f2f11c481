import assert from "node:assert/strict";
import { createReadStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { after, before, test, type TestContext } from "node:test";
import * as fc from "fast-check";
import { readEntries } from "../src/backup/archive.ts";
import { archiveOf, sumParts, type Entry } from "../src/backup/archive.ts";
import { headerName, manifestName, type Manifest } from "../src/backup/manifest.ts";
import { contentsOf, done, publish, refused, settingsOf } from "./support/backups.ts";
import { runCommand } from "./support/commands.ts";
import { runs, someOf } from "./support/fault-runs.ts";
import { temporaryFolder } from "./support/folder.ts";
import { newDatabase } from "./support/postgres.ts";
import { engine, startService, testOnce, type TestService } from "./support/service.ts";
import { made, newCategory } from "./support/shop.ts";

/** An archive in memory: its entries by name, between the header and the manifest. */
type Archive = { entries: { name: string; text: Buffer }[]; manifest: Manifest };

let service: TestService;
let whole: Archive;
before(async (t) => {
  service = await startService();
  await newCategory(service, "Dogs");
  await made(service, "POST", "/pets", { name: "Rex", categoryId: 1 });
  await made(service, "PUT", "/store/inventory/1", { quantity: 10 });
  await service.ask("POST", "/store/orders", { body: { petId: 1, quantity: 2 }, headers: { "Idempotency-Key": '"k"' } });
  await publish(service, "rex", { "index.html": `<h1>${"Rex ".repeat(500)}</h1>` });
  const file = join(temporaryFolder(t as TestContext), "backup");
  await done(await settingsOf(service.dataDir), "backup", file);
  whole = { entries: [], manifest: undefined as unknown as Manifest };
  for await (const { name, content } of readEntries(createReadStream(file), undefined)) {
    const text = await buffer(content);
    if (name === manifestName) whole.manifest = JSON.parse(text.toString()) as Manifest;
    else if (name !== headerName) whole.entries.push({ name, text });
  }
});
after(() => service.close());

/** Counts and sums the entries anew, as a program that writes a wrong archive does. */
function withOwnSums({ entries, manifest }: Archive): Archive {
  const sums = sumParts();
  for (const { name, text } of entries) {
    const rows = name.startsWith("database/") ? linesIn(text) : undefined;
    sums.begin({ name, bytes: text.length, ...(rows !== undefined && { rows }) })(text);
  }
  return { entries, manifest: { ...manifest, parts: sums.end() } };
}

function linesIn(text: Buffer): number {
  let lines = 0;
  for (let at = text.indexOf(10); at >= 0; at = text.indexOf(10, at + 1)) lines += 1;
  return lines;
}

/** Writes an archive with a valid seal. */
async function seal(path: string, { entries, manifest }: { entries: Archive["entries"]; manifest: unknown }): Promise<void> {
  async function* all(): AsyncGenerator<Entry> {
    const header = { name: headerName, text: Buffer.from('{"format":1,"program":"1.2.0"}\n') };
    const end = { name: manifestName, text: Buffer.from(JSON.stringify(manifest)) };
    for (const { name, text } of [header, ...entries, end]) yield { name, bytes: text.length, content: [text] };
  }
  writeFileSync(path, Buffer.concat(await Array.fromAsync(archiveOf(all(), 0, undefined))));
}

/** Restores an archive into an empty place. The result is whole, or one line with the place left as it was. */
async function restores(t: TestContext, archive: { entries: Archive["entries"]; manifest: unknown }, what: string): Promise<string> {
  const file = join(temporaryFolder(t), "crafted");
  await seal(file, archive);
  const dataDir = join(temporaryFolder(t), "data");
  const database = engine === "postgres" ? await newDatabase(dataDir) : undefined;
  try {
    const place: Record<string, string> = { DATA_DIR: dataDir, ...(database && { DATABASE_URL: database.url }) };
    const { code, error } = await runCommand(["restore", file], place);
    if (code === 0) {
      const verified = await runCommand(["verify"], place);
      assert.equal(verified.code, 0, `${what}: ${verified.out}${verified.error}`);
      return "";
    }
    assert.equal(code, 1, what);
    assert.match(error, /^petstore: [^\n]+\n$/, `${what}: one line`);
    assert.ok(error.includes(file), `${what}: names the file: ${error}`);
    assert.doesNotMatch(error, /undefined|RangeError|TypeError|SQLITE_|EEXIST|ENOENT|\bat \//, what);
    assert.deepEqual(contentsOf(dataDir), {}, `${what}: nothing was changed`);
    if (database) assert.match((await runCommand(["verify"], place)).error, /has no data/, what);
    return error;
  } finally {
    await database?.drop();
  }
}

const strange: unknown[] = [null, true, -1, 1.5, 9e15, 1e308, "", "x", "../x", "\u0000", "x".repeat(100_000), [], {}, [[]]];

/** A restore into PostgreSQL takes ten times as long, and most refusals come before it. */
const few = (onSqlite: number): number => (engine === "sqlite" ? onSqlite : 2);

const odd = fc.constantFrom(...strange);
const place = fc.nat(100_000);

/** Changes one value somewhere in a manifest: sets, removes or doubles it. */
function withChange(manifest: Manifest, steps: number[], action: string, value: unknown): unknown {
  const copy = structuredClone(manifest) as unknown;
  let at = copy as Record<string, unknown>;
  for (let step = 0; ; step++) {
    const keys = Object.keys(at);
    if (keys.length === 0) break;
    const key = keys[steps[step]! % keys.length]!;
    const next = at[key];
    if (typeof next === "object" && next !== null && step < steps.length - 1 && steps[step]! % 5 > 0) {
      at = next as Record<string, unknown>;
      continue;
    }
    if (action === "set") at[key] = value;
    else if (Array.isArray(at)) at.splice(Number(key), action === "remove" ? 1 : 0, ...(action === "remove" ? [] : [next]));
    else if (action === "remove") delete at[key];
    else at["more"] = next;
    break;
  }
  return copy;
}

test("an archive whose manifest was changed and sealed again is restored whole, or refused in one line", async (t) => {
  const steps = fc.array(place, { minLength: 5, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom("set", "remove", "double"), odd, async (path, action, value) => {
      const manifest = withChange(whole.manifest, path, action, value);
      await restores(t, { entries: whole.entries, manifest }, JSON.stringify([path, action, value]).slice(0, 200));
    }),
    { numRuns: runs(few(12), 1_000), endOnFailure: true },
  );
});

test("an archive whose rows or files were changed and sealed again with right sums is restored whole, or refused in one line", async (t) => {
  const change = fc.record({
    at: place,
    row: place,
    column: place,
    value: odd,
    action: fc.constantFrom("value", "value", "value", "row", "rows", "double row", "entry", "double entry", "swap", "text"),
  });
  await fc.assert(
    fc.asyncProperty(change, async (given) => {
      const entries = whole.entries.map((entry) => ({ ...entry }));
      changeEntries(entries, given);
      await restores(t, withOwnSums({ entries, manifest: whole.manifest }), JSON.stringify(given).slice(0, 200));
    }),
    { numRuns: runs(few(20), 2_000), endOnFailure: true },
  );
});

type Change = { at: number; row: number; column: number; value: unknown; action: string };

function changeEntries(entries: Archive["entries"], { at, row, column, value, action }: Change): void {
  const index = at % entries.length;
  const entry = entries[index]!;
  if (action === "entry") entries.splice(index, 1);
  else if (action === "double entry") entries.splice(index, 0, entry);
  else if (action === "swap") [entries[index], entries[0]] = [entries[0]!, entry];
  else if (action === "text" || !entry.name.startsWith("database/")) entry.text = Buffer.from(`${JSON.stringify(value)}\n`);
  else {
    const rows = entry.text.toString().trimEnd().split("\n");
    const line = row % rows.length;
    if (action === "rows") rows.length = 0;
    else if (action === "row") rows.splice(line, 1);
    else if (action === "double row") rows.splice(line, 0, rows[line]!);
    else {
      const values = JSON.parse(rows[line]!) as unknown[];
      values[column % values.length] = value;
      rows[line] = JSON.stringify(values);
    }
    entry.text = Buffer.from(rows.map((text) => `${text}\n`).join(""));
  }
}

test("an archive that is sealed correctly and wrong in its contents is refused with the reason", async (t) => {
  const { entries, manifest } = whole;
  const changed = (name: RegExp, text: string): Archive =>
    withOwnSums({ entries: entries.map((entry) => (name.test(entry.name) ? { ...entry, text: Buffer.from(text) } : entry)), manifest });
  const [first, ...others] = manifest.tables;
  const cases: [unknown, RegExp][] = [
    [{ entries, manifest: { ...manifest, tables: [] } }, /manifest is not complete/],
    [
      { entries: [], manifest: { ...manifest, parts: [], secrets: { isIncluded: false, keys: [] }, tables: others } },
      /table \w+ is missing/,
    ],
    [{ entries, manifest: { ...manifest, tables: [...manifest.tables, { ...first!, name: "foreign" }] } }, /table foreign is in no schema/],
    [{ entries, manifest: { ...manifest, madeAt: 9e15 } }, /manifest is not complete/],
    [{ entries, manifest: { ...manifest, sequences: { ...manifest.sequences, foreign_ids: 3 } } }, /sequence foreign_ids is in no schema/],
    [{ entries, manifest: { ...manifest, sequences: {} } }, /account_ids is at 0, and accounts has 1.*--with-faults/],
    [{ entries, manifest: { ...manifest, migrations: manifest.migrations.slice(1) } }, /migrations that never made one schema/],
    [{ entries, manifest: { ...manifest, secrets: { ...manifest.secrets, isIncluded: false } } }, /is wrong about secrets\.key/],
    [changed(/^secrets/, "short\n"), /its secrets\.key does not hold 32 bytes as base64/],
    [changed(/^secrets/, `${Buffer.alloc(32).toString("base64")}\n`), /its secrets\.key does not hold the key [0-9a-f]{8}/],
    [changed(/^database\/pets\//, `${"[],".repeat(200_000)}\n`), /a row of pets does not have the values of its columns/],
    [changed(/^database\/pets\//, `[${"[],".repeat(100_000)}[]]\n`), /a row of pets does not have the values of its columns/],
    [changed(/^database\/pets\//, "x".repeat(17 << 20)), /a line of database\/pets\/000001\.jsonl is too long/],
    [withOwnSums({ entries: [...entries, entries.at(-1)!], manifest }), /comes twice or in the wrong place/],
    [
      withOwnSums({ entries: entries.filter(({ name }) => !name.startsWith("content/")), manifest }),
      /published file [0-9a-f]{64}.* is missing/,
    ],
    [changed(/^database\/inventory\//, ""), /the database|records|pet 1|order/],
  ];
  for (const [archive, reason] of someOf(cases, engine === "sqlite" ? 3 : 8))
    assert.match(await restores(t, archive as Archive, String(reason)), reason);
});

testOnce("data with faults is restored with --with-faults, and verify names them", async (t) => {
  const file = join(temporaryFolder(t), "crafted");
  const entries = whole.entries.filter(({ name }) => !name.startsWith("database/idempotency/") && name !== "limits.state");
  const manifest = { ...whole.manifest, sequences: {} };
  await seal(file, withOwnSums({ entries, manifest }));
  const env = { DATA_DIR: join(temporaryFolder(t), "data"), DATABASE_URL: "" };
  await refused(env, /--with-faults restores it all the same/, "restore", file);
  await done(env, "restore", file, "--with-faults");
  assert.match((await runCommand(["verify"], env)).out, /account_ids is at 0, and accounts has 1/);
});

testOnce("a page of millions of rows is read within bounded memory", async (t) => {
  const file = join(temporaryFolder(t), "crafted");
  const name = "database/accounts/000001.jsonl";
  const entries = whole.entries.map((entry) => (entry.name === name ? { name, text: Buffer.alloc(30 << 20, "[]\n") } : entry));
  await seal(file, withOwnSums({ entries, manifest: whole.manifest }));
  const rss = process.memoryUsage.rss();
  await refused({ DATA_DIR: join(temporaryFolder(t), "data"), DATABASE_URL: "" }, /a row of accounts does not have/, "restore", file);
  const grown = process.memoryUsage.rss() - rss;
  assert.ok(grown < 200 << 20, `${grown >> 20} MiB`);
});

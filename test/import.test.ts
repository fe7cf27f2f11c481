import assert from "node:assert/strict";
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "csv-parse/sync";
import { temporaryFolder } from "./support/folder.ts";
import {
  openShop,
  importOf,
  importing,
  refusal,
  exported,
  namesIn,
  deleteAll,
  fileOf,
  nameless,
  openProxy,
  start,
  ended,
  petstore,
  sample,
  longbeach,
  type Pet,
  type Moment,
} from "./support/importing.ts";

test("the sample arrives as the mapping says, comes back from the export, and a second run changes nothing", async (t) => {
  const shop = await openShop(t);
  const report = await importing(shop, sample);
  assert.partialDeepStrictEqual(report, { rows: 916, superseded: 131, created: 785, updated: 0, unchanged: 0, rejected: 0 });
  assert.equal(report.categoriesMade.length, 10);

  const last = new Map<string, Record<string, string>>();
  for (const row of parse<Record<string, string>>(await readFile(sample), { columns: true })) last.set(row["animal_id"] ?? "", row);
  const expected = [...last.values()].map((row) => {
    const name = row["animal_name"]?.replaceAll(/^\*+ ?|\*+$/g, "") || row["animal_id"];
    const outcome = row["outcome_type"] ?? "";
    return [name, row["animal_type"], outcome === "" ? "available" : outcome.startsWith("foster") ? "pending" : "sold"].join("|");
  });
  const categories = new Map((await exported<{ id: number; name: string }>(shop, "categories")).map(({ id, name }) => [id, name]));
  const { out } = await petstore(shop, "export", "pets", "--format", "csv");
  const pets = parse<Record<string, string>>(out, { columns: true });
  const found = pets.map((pet) => [pet["name"], categories.get(Number(pet["categoryId"])), pet["status"]].join("|"));
  assert.deepEqual(found.toSorted(), expected.toSorted());

  assert.partialDeepStrictEqual(await importing(shop, sample), { created: 0, updated: 0, unchanged: 785, categoriesMade: [] });
  assert.equal((await exported(shop, "pets")).length, 785);
});

test("an import that does not fit is refused before it begins, and an import of known animals needs no room", async (t) => {
  const shop = await openShop(t);
  const file = await fileOf(shop, nameless(1_500));
  await shop.allowRecords(1_400);
  const stopped = await petstore(shop, ...importOf(shop, file));
  assert.equal(stopped.code, 4);
  assert.match(stopped.error, /storage_limit_reached.*1501 new animals and categories, and the plan has room for 1400 more records/);
  assert.deepEqual(await namesIn(shop), []);
  await shop.allowRecords(1_501);
  assert.partialDeepStrictEqual(await importing(shop, file), { created: 1_500, unchanged: 0, rejected: 0 });
  assert.equal(new Set(await namesIn(shop)).size, 1_500);
  assert.partialDeepStrictEqual(await importing(shop, file), { created: 0, unchanged: 1_500 });
});

test("an import that is killed at any batch, before or after the service has done it, leaves nothing out and nothing twice", async (t) => {
  const proxy = await openProxy(t);
  const shop = { ...(await openShop(t)), url: proxy.url };
  const file = await fileOf(shop, nameless(3_500));
  const kills: [number, Moment][] = [
    [1, "before"],
    [1, "after"],
    [1, "after"],
    [2, "before"],
    [2, "after"],
    [2, "after"],
  ];
  for (const [batch, moment] of kills) {
    const child = start(shop, importOf(shop, file));
    proxy.on(batch, moment, () => child.kill("SIGKILL"));
    assert.equal((await ended(child)).signal, "SIGKILL");
  }
  proxy.on(0, "before", () => {});
  await importing(shop, file);
  const names = await namesIn(shop);
  assert.deepEqual([names.length, new Set(names).size], [3_500, 3_500]);
});

test("a killed import whose file is changed before the next run leaves nothing twice either", async (t) => {
  const proxy = await openProxy(t);
  const shop = { ...(await openShop(t)), url: proxy.url };
  const rows = nameless(1_500);
  const child = start(shop, importOf(shop, await fileOf(shop, rows)));
  proxy.on(1, "after", () => child.kill("SIGKILL"));
  await ended(child);
  proxy.on(0, "before", () => {});
  assert.partialDeepStrictEqual(await importing(shop, await fileOf(shop, ["B1,,cat,", ...rows.slice(7)])), {
    created: 501,
    unchanged: 993,
  });
  const names = await namesIn(shop);
  assert.deepEqual([names.length, new Set(names).size], [1_501, 1_501]);
});

test("another computer and next month's file create nothing twice, and animals that the shop deleted stay deleted", async (t) => {
  const shop = await openShop(t);
  const rows = nameless(1_200);
  assert.partialDeepStrictEqual(await importing(shop, await fileOf(shop, rows)), { created: 1_200, source: "animals" });
  await deleteAll(shop, (await exported<Pet>(shop, "pets")).slice(100, 110));
  const elsewhere = { ...shop, folder: temporaryFolder(t) };
  const file = join(elsewhere.folder, "Intake 2031-05 (2).csv");
  await rename(await fileOf(elsewhere, [...rows.slice(1), "Z1,,dog,"]), file);
  assert.partialDeepStrictEqual(await importing(elsewhere, file), { created: 1, updated: 0, unchanged: 1_199, source: "animals" });
  assert.equal(new Set(await namesIn(shop)).size, 1_191);
  const other = await importing(elsewhere, file, "--source", "Another shelter", "--dry-run");
  assert.partialDeepStrictEqual(other, { created: 1_200, source: "Another shelter" });
});

test("a new animal that is available counts as one unit, and one that has left counts as none", async (t) => {
  const shop = await openShop(t);
  await importing(shop, await fileOf(shop, ["A1,Rex,dog,", "A2,Tom,cat,foster", "A3,Max,dog,adoption", "A4,Eve,cat,"]));
  const [rex, , , eve] = await exported<Pet>(shop, "pets");
  const stock = async () =>
    (await exported<{ petId: number; quantity: number }>(shop, "inventory")).map(({ petId, quantity }) => [petId, quantity]);
  assert.deepEqual(await stock(), [
    [rex?.id, 1],
    [eve?.id, 1],
  ]);
  await importing(shop, await fileOf(shop, ["A1,Rex,dog,adoption", "A2,Tom,cat,foster", "A3,Max,dog,adoption", "A4,Eve,cat,foster"]));
  assert.deepEqual(
    (await exported<Pet>(shop, "pets")).map(({ status }) => status),
    ["sold", "pending", "sold", "sold"],
    "no animal that has left is for sale",
  );
  await importing(shop, await fileOf(shop, ["A1,Rex,dog,"]));
  assert.deepEqual((await stock())[0], [rex?.id, 1]);
});

test("changed rows are updated under their ids, rows deleted in the shop are created again, and new rows are created", async (t) => {
  const shop = await openShop(t);
  await importing(shop, await fileOf(shop, ["A1,Rex,dog,", "A2,Tom,cat,", "A3,Max,dog,"]));
  const [rex, tom, max] = await exported<Pet>(shop, "pets");
  assert.ok(rex && tom && max);
  await deleteAll(shop, [max]);
  const changed = await fileOf(shop, ["A1,Rex,dog,adoption", "A2,Tom,CAT,", "A3,Maximilian,dog,", "A4,Eve,cat,"]);
  assert.partialDeepStrictEqual(await importing(shop, changed), { created: 2, updated: 1, unchanged: 1, categoriesMade: [] });
  const found = await exported<Pet>(shop, "pets");
  assert.deepEqual(found.slice(0, 2), [{ ...rex, status: "sold" }, tom]);
  assert.deepEqual(
    found.slice(2).map(({ name }) => name),
    ["Maximilian", "Eve"],
  );
});

test("a changed row of an animal whose stock the shop has changed changes all but its status, which follows from the stock", async (t) => {
  const shop = await openShop(t);
  await importing(shop, await fileOf(shop, ["A1,Rex,dog,", "A2,Tom,cat,"]));
  const [rex] = await exported<Pet>(shop, "pets");
  const headers = { "content-type": "application/json", authorization: `Bearer ${shop.key}` };
  const counted = await fetch(`${shop.url}/v1/store/inventory/${rex?.id}`, { method: "PUT", headers, body: '{"quantity": 3}' });
  assert.equal(counted.status, 200);
  const report = await importing(shop, await fileOf(shop, ["A1,Max,dog,adoption", "A2,Tom,cat,adoption"]));
  assert.partialDeepStrictEqual(report, { created: 0, updated: 2, rejected: 0 });
  assert.deepEqual(
    (await exported<Pet>(shop, "pets")).map(({ name, status }) => [name, status]),
    [
      ["Max", "available"],
      ["Tom", "sold"],
    ],
  );
});

test("each row that cannot be imported is in the reject file with its line and reason, and the others are in the shop", async (t) => {
  const shop = await openShop(t);
  const bad: [string, RegExp][] = [
    [`A1,${"x".repeat(201)},dog,`, /the name is over 200 characters/],
    [",Rex,dog,", /no id/],
    ["A3,Rex,dog,eloped", /unknown status value “eloped”/],
    ["A4,Rex", /no category: animal_type empty/],
    ["A8,Rex,dog,,,surplus", /has 6 cells where the header has 4; too many: ,surplus/],
    [`A9,${"x".repeat(140_000)},dog,`, /is over 128000 characters/],
    ["A5,Rex,,", /no category/],
    ["A6,nul\0,dog,", /^name must/],
    ["A7,Rex,d\0g,", /the category “d\0g” was refused/],
    ['A10,"Rex,dog,', /^has a quote that is opened and not closed$/],
    ['A11,"Rex, the "king"",dog,', /^has a quote in the wrong place$/],
    [`A12,${"x".repeat(1_400_000)},dog,`, /^is over 1024000 characters$/],
  ];
  const odd = ['B2,12" leash dog,dog,', "B3,Three,dog", "B4,Four,dog,,,", ",,,", "B5,Five,dog,", "\u001a"];
  const report = await importing(shop, await fileOf(shop, ["B1,One,dog,", ...bad.map(([row]) => row), ...odd]));
  assert.partialDeepStrictEqual(report, { rows: 17, created: 5, rejected: 12 });
  assert.deepEqual(await namesIn(shop), ["One", '12" leash dog', "Three", "Four", "Five"]);
  const rejects = parse<Record<string, string>>(await readFile(report.rejects ?? ""), { columns: true });
  assert.deepEqual(Object.keys(rejects[0] ?? {}), ["animal_id", "animal_name", "animal_type", "outcome_type", "line", "reason"]);
  for (const [index, [row, reason]] of bad.entries()) {
    assert.equal(rejects[index]?.["line"], String(index + 3));
    assert.equal(rejects[index]?.["animal_id"], row.split(",")[0]);
    assert.match(rejects[index]?.["reason"] ?? "", reason);
  }
});

test("an import whose rows are all rejected fails, and says so to scripts", async (t) => {
  const shop = await openShop(t);
  const { code, out } = await petstore(shop, ...importOf(shop, await fileOf(shop, ["A1,Rex,dog,eloped", "A2,Tom,,"])));
  assert.equal(code, 1);
  assert.partialDeepStrictEqual(JSON.parse(out), { rows: 2, created: 0, rejected: 2 });
});

test("a batch that is too large for the service, or for a proxy before it, is halved until it fits", async (t) => {
  const { url } = await openProxy(t, 64 * 1_024);
  const shop = { ...(await openShop(t)), url };
  const rows = Array.from({ length: 1_000 }, (_, n) => `A${n},${"x".repeat(200)},dog,`);
  assert.partialDeepStrictEqual(await importing(shop, await fileOf(shop, rows)), { created: 1_000, rejected: 0 });
  assert.equal((await exported(shop, "pets")).length, 1_000);
});

test("a changed row that the service refuses is rejected, and the animal stays as it was", async (t) => {
  const shop = await openShop(t);
  await importing(shop, await fileOf(shop, ["A1,Rex,dog,", "A2,Tom,cat,"]));
  const report = await importing(shop, await fileOf(shop, ["A1,R\0x,dog,", "A2,Tim,cat,"]));
  assert.partialDeepStrictEqual(report, { created: 0, updated: 1, rejected: 1 });
  assert.match(await readFile(report.rejects ?? "", "utf8"), /,2,name must/);
  assert.deepEqual(await namesIn(shop), ["Rex", "Tim"]);
});

test("a dry run counts and writes the rejects, without a service and without a state", async (t) => {
  const shop = { ...(await openShop(t)), url: "http://127.0.0.1:9", key: "" };
  const report = await importing(shop, await fileOf(shop, ["A1,Rex,dog,", ",Tom,cat,"]), "--dry-run");
  assert.partialDeepStrictEqual(report, { created: 1, rejected: 1 });
  assert.deepEqual((await readdir(shop.folder)).toSorted(), ["animals.csv", "rejects.csv"]);
});

test("an error that stops an import is one line, and nothing is sent", async (t) => {
  const shop = await openShop(t);
  const file = await fileOf(shop, ["A1,Rex,dog,"]);
  const unclosed = join(shop.folder, "unclosed.csv");
  await writeFile(unclosed, 'animal_id,"animal_name,animal_type,outcome_type\nA1,Rex,dog,\n');
  const imports = (name: string, ...more: string[]) => ["import", name, "--mapping", longbeach, ...more];
  assert.match(await refusal(shop, ...imports(join(shop.folder, "none.csv"))), /there is no such file/);
  assert.match(await refusal(shop, ...imports(shop.folder)), /is not a file/);
  assert.match(
    await refusal(shop, ...imports(unclosed)),
    /has a header that cannot be read: line 1 has a quote that is opened and not closed/,
  );
  assert.match(await refusal(shop, ...imports(longbeach)), /must be four different files/);
  assert.match(await refusal(shop, "import", file, "--mapping", unclosed), /is not JSON/);
  assert.match(await refusal({ ...shop, key: "" }, ...imports(file)), /no key is set/);
  assert.match(await refusal({ ...shop, key: "psk_wrong" }, ...imports(file)), /key/i);
  assert.match(await refusal(shop, ...imports(file, "--url", "localhost:8080")), /Not an http or https address/);
  assert.match(await refusal(shop, ...imports(file, "--rejects", file)), /must be four different files/);
  assert.deepEqual(await namesIn(shop), []);
  assert.equal((await petstore(shop, "import")).code, 2);
});

test("the encoding and delimiter of a spreadsheet's file are detected and shown in the summary, and a damaged file changes nothing", async (t) => {
  const shop = await openShop(t);
  const lines = ["animal_id;animal_name;animal_type;outcome_type", "A1;Zoë, die Große;dog;", "A2;Müsli;cat;", ""].join("\r\n");
  const tabs = `\uFEFF${lines.replaceAll(";", "\t")}`;
  const file = join(shop.folder, "animals.csv");
  const damaged: [Buffer, RegExp][] = [
    [Buffer.alloc(100_000), /is not a text file/],
    [Buffer.from('"'), /line 1 has a quote that is opened and not closed/],
    [Buffer.from(tabs, "utf16le").subarray(0, -5), /ends in the middle of a UTF-16LE character \(line 3\)/],
  ];
  for (const [content, words] of damaged) {
    await writeFile(file, content);
    assert.match(await refusal(shop, ...importOf(shop, file).filter((arg) => arg !== "--json")), words);
    assert.deepEqual(await readdir(shop.folder), ["animals.csv"]);
  }
  assert.deepEqual(await namesIn(shop), []);

  await writeFile(file, lines, "latin1");
  const { out } = await petstore(shop, ...importOf(shop, file).filter((arg) => arg !== "--json"));
  assert.match(out, /\nThe file was read as windows-1252 with semicolons\.\n2 rows in /);
  await writeFile(file, `Animals of June;\n\n${lines.split("\n").slice(0, 2).join("\n")}`);
  const titled = await petstore(shop, ...importOf(shop, file).filter((arg) => arg !== "--json"));
  assert.match(
    titled.out,
    /read as utf-8 with semicolons, and line 3 as the names of the columns\.\n1 row in .*: 0 created, .* 1 unchanged/,
  );
  assert.doesNotMatch(titled.out, /imports undo/, "there is nothing to take back");
  for (const content of [lines, `\uFEFF${lines}`, Buffer.from(tabs, "utf16le"), Buffer.from(tabs, "utf16le").swap16()]) {
    await writeFile(file, content);
    assert.partialDeepStrictEqual(await importing(shop, file), { created: 0, unchanged: 2, rejected: 0 });
  }
  assert.deepEqual(await namesIn(shop), ["Zoë, die Große", "Müsli"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMapping } from "./local-files.ts";
import { formatRejects, readSource } from "./source.ts";

const mapping = parseMapping(JSON.stringify({ id: "no", name: { columns: ["name"] }, category: { columns: ["kind"] } }), "m.json");

async function* csv(...table: string[][]) {
  for (const [index, cells] of table.entries()) yield { line: index + 1, cells };
}
const header = ["no", "name", "kind"];

test("the last row of an id wins, and the earlier ones are counted", async () => {
  const source = await readSource(csv(header, ["1", "Rex", "dog"], ["2", "Tom", "cat"], [" 1 ", "Max", "dog"]), mapping, "a.csv");
  assert.deepEqual(
    source.rows.map(({ line, pet }) => [line, pet.sourceId, pet.name]),
    [
      [4, "1", "Max"],
      [3, "2", "Tom"],
    ],
  );
  assert.deepEqual([source.rowsRead, source.superseded, source.rejects.length], [3, 1, 0]);
});

test("a rejected last row does not bring back an earlier one, and a bad earlier row is not reported", async () => {
  const source = await readSource(
    csv(header, ["1", "Rex", "dog"], ["1", "", "dog"], ["2", "", "cat"], ["2", "Tom", "cat"]),
    mapping,
    "a.csv",
  );
  assert.deepEqual(
    source.rows.map(({ pet }) => pet.name),
    ["Tom"],
  );
  assert.deepEqual(
    source.rejects.map(({ line, reason }) => [line, reason]),
    [[3, "no name: name empty"]],
  );
});

test("rows with surplus data or without an id are rejected, and the reason shows the extra cells", async () => {
  const source = await readSource(csv(header, ["1", "Rex"], ["2", "Tom", "cat", "x", "y"], ["", "Max", "dog"]), mapping, "a.csv");
  assert.equal(source.rows.length, 0);
  assert.deepEqual(
    source.rejects.map(({ reason }) => reason),
    ["has 5 cells where the header has 3; too many: x,y", "no id: the column no is empty", "no category: kind empty"],
  );
});

test("empty cells at the end may be missing or surplus, and rows of empty cells are not counted", async () => {
  const wide = [...header, "note"];
  const rows = [["1", "Rex", "dog"], ["", " ", "", ""], ["2", "Tom", "cat", "", "", " "], [""]];
  const source = await readSource(csv(wide, ...rows), mapping, "a.csv");
  assert.deepEqual([source.rowsRead, source.rejects, source.rows.map(({ pet }) => pet.name)], [2, [], ["Rex", "Tom"]]);
});

test("a row that is too long is rejected alone, and little of it is kept", async () => {
  const source = await readSource(csv(header, ["1", "x".repeat(140_000), "dog"], ["2", "Tom", "cat"]), mapping, "a.csv");
  assert.deepEqual(
    source.rejects.map(({ cells, reason }) => [cells[1]!.length, reason]),
    [[1_000, "is over 128000 characters"]],
  );
  assert.equal(source.rows.length, 1);
});

test("a header that names a column of the mapping twice is refused, and another one may occur twice", async () => {
  await assert.rejects(readSource(csv(["no", "name", "kind", "name"]), mapping, "a.csv"), { message: /has the column “name” twice/ });
  const source = await readSource(csv(["no", "name", "kind", "note", "note"], ["1", "Rex", "dog", "a", "b"]), mapping, "a.csv");
  assert.equal(source.rows.length, 1);
});

test("a reject file can be corrected and imported any number of times, and a column of the source with one of its names stays", () => {
  const reject = { line: 3, cells: ["1", "", "dog", "9", "no name"], reason: "no name: name empty" };
  const again = formatRejects([...header, "line", "reason"], [reject]);
  assert.equal(again, "no,name,kind,line,reason\n1,,dog,3,no name: name empty\n");
  const named = formatRejects(["no", "reason", "kind"], [{ line: 2, cells: ["1", "moved", ""], reason: "no category" }]);
  assert.equal(named, "no,reason,kind,line,reason 2\n1,moved,,2,no category\n");
  const twice = formatRejects(
    ["no", "reason", "kind", "line", "reason 2"],
    [{ line: 4, cells: ["1", "moved", "", "2", "old"], reason: "new" }],
  );
  assert.equal(twice, "no,reason,kind,line,reason 2\n1,moved,,4,new\n");
});

test("the reject file has the file's columns, the line and the reason, in the order of the lines", () => {
  const text = formatRejects(header, [
    { line: 9, cells: ["2", 'To"m', "cat"], reason: "no" },
    { line: 3, cells: ["1"], reason: "has 1 cells, really" },
  ]);
  assert.equal(text, 'no,name,kind,line,reason\n1,,,3,"has 1 cells, really"\n2,"To""m",cat,9,no\n');
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMapping } from "./mapping-file.ts";
import { formatRejects } from "./rejects.ts";
import { readSource } from "./source.ts";

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

test("rows with the wrong number of cells or without an id are rejected, and the reason shows the extra cells", async () => {
  const source = await readSource(csv(header, ["1", "Rex"], ["2", "Tom", "cat", "x", "y"], ["", "Max", "dog"]), mapping, "a.csv");
  assert.equal(source.rows.length, 0);
  assert.deepEqual(
    source.rejects.map(({ reason }) => reason),
    ["has 2 cells where the header has 3", "has 5 cells where the header has 3; too many: x,y", "no id: the column no is empty"],
  );
});

test("a header that names a column twice is refused", async () => {
  await assert.rejects(readSource(csv(["no", "name", "kind", "name"]), mapping, "a.csv"), { message: /has the column “name” twice/ });
});

test("the reject file has the file's columns, the line and the reason, in the order of the lines", () => {
  const text = formatRejects(header, [
    { line: 9, cells: ["2", 'To"m', "cat"], reason: "no" },
    { line: 3, cells: ["1"], reason: "has 1 cells, really" },
  ]);
  assert.equal(text, 'no,name,kind,line,reason\n1,,,3,"has 1 cells, really"\n2,"To""m",cat,9,no\n');
});

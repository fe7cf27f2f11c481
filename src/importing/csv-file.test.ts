import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { readCsv } from "./csv-file.ts";

const folder = await mkdtemp(join(tmpdir(), "petstore-csv-"));
after(() => rm(folder, { recursive: true }));
const file = join(folder, "a.csv");

async function rowsOf(content: string | Buffer) {
  await writeFile(file, content);
  return Array.fromAsync(readCsv(file));
}
const refused = (content: string | Buffer, message: RegExp) =>
  assert.rejects(rowsOf(content), { name: "Problem", code: "invalid_request", message });

test("a byte order mark is skipped and line ends may be mixed", async () => {
  const rows = await rowsOf("\uFEFFa,b\r\n1,2\n3,4\r5,6\r\n");
  assert.deepEqual(rows, [
    { line: 1, cells: ["a", "b"] },
    { line: 2, cells: ["1", "2"] },
    { line: 3, cells: ["3", "4"] },
    { line: 4, cells: ["5", "6"] },
  ]);
});

test("a row is known by the line where it begins, also after empty lines and cells of several lines", async () => {
  const rows = await rowsOf('a,b\r\n\r\n"x\r\ny","p\nq"\r\n5,6');
  assert.deepEqual(
    rows.map(({ line, cells }) => [line, cells]),
    [
      [1, ["a", "b"]],
      [3, ["x\ny", "p\nq"]],
      [6, ["5", "6"]],
    ],
  );
});

test("rows with too few or too many cells are given as they are", async () => {
  const rows = await rowsOf("a,b\n1\n1,2,3\n");
  assert.deepEqual(rows[1]?.cells, ["1"]);
  assert.deepEqual(rows[2]?.cells, ["1", "2", "3"]);
});

test("whatever is written as CSV is read as it was", async () => {
  const cell = fc.string({ unit: "binary", maxLength: 20 }).map((text) => text.replaceAll(/[\r\uFEFF]/g, ""));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 8 }), async (table) => {
      const rows = await rowsOf(stringify(table, { quoted: true, quoted_empty: true }));
      assert.deepEqual(
        rows.map(({ cells }) => cells),
        table,
      );
    }),
    { numRuns: 60 },
  );
});

test("an unclosed quote is reported with the line before it", async () => {
  await refused('a,b\n1,2\n3,"4\n5,6\n', /a quote is opened after line 2 and never closed\. Nothing was sent\.$/);
});

test("a quote that is never closed takes no more than a bounded part of a large file", async () => {
  await refused('a,b\n1,"2\n' + "3,4\n".repeat(100_000), /a row after line 1 is over 128000 characters/);
});

test("a quote in the middle of a cell is reported with its position", async () => {
  await refused('a,b\n1,x"2\n', /a quote is in the wrong place after line 1/);
  await refused('a,b\n1,"x"2\n', /a quote is in the wrong place after line 1/);
});

test("an empty file is refused, and so are a folder and a file that is not there", async () => {
  await refused("", /is empty/);
  await refused("\n\n", /is empty/);
  await assert.rejects(Array.fromAsync(readCsv(folder)), { message: /is not a file/ });
  await assert.rejects(Array.fromAsync(readCsv(join(folder, "none.csv"))), { message: /there is no such file/ });
});

test("text in another encoding is refused before any of it is taken for names", async () => {
  await refused(Buffer.from("a,b\n1,Ros\u00e9\n", "latin1"), /is not UTF-8 text/);
  await refused(Buffer.from("\uFEFFa,b\n1,2\n", "utf16le"), /is not UTF-8 text/);
  await refused(Buffer.from("a,b\n1,é").subarray(0, -1), /is not UTF-8 text/);
});

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
  const cell = fc.string({ unit: "binary", maxLength: 20 }).map((text) => text.replaceAll(/[\0\r\uFEFF]/g, ""));
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

const table = [
  ["animal", "café", "note"],
  ["1", "Rosé", "a, b; c"],
  ["2", "Žofie", "“x”"],
];

for (const delimiter of [",", ";", "\t", "|"])
  test(`what a spreadsheet wrote with ${JSON.stringify(delimiter)} is read in each of its encodings`, async () => {
    const text = stringify(table, { delimiter, quoted: true });
    const utf16 = Buffer.from(text, "utf16le");
    const written = {
      "UTF-8": Buffer.from(text),
      "UTF-8 with a mark": Buffer.from(`\uFEFF${text}`),
      "UTF-16": Buffer.from(`\uFEFF${text}`, "utf16le"),
      "UTF-16 without a mark": utf16,
      "big-endian UTF-16": Buffer.from(`\uFEFF${text}`, "utf16le").swap16(),
      "windows-1252": inWindows1252(text),
    };
    for (const [name, content] of Object.entries(written)) {
      const rows = await rowsOf(content);
      assert.deepEqual(
        rows.map(({ cells }) => cells),
        table,
        name,
      );
    }
  });

/** Letters of Latin-1, and the few others of these tests. */
function inWindows1252(text: string): Buffer {
  const others: Record<string, number> = { Ž: 0x8e, "“": 0x93, "”": 0x94 };
  return Buffer.from(Array.from(text, (letter) => others[letter] ?? letter.charCodeAt(0)));
}

test("a file that is not text is refused before any of it is taken for names", async () => {
  await refused(Buffer.concat([Buffer.from("a,b\n1,"), Buffer.from([1, 2, 3, 0xff, 0xfe])]), /is not a text file/);
  await refused(Buffer.from("PK\u0003\u0004"), /is a workbook of a spreadsheet program/);
  await refused(Buffer.from("é,ü,ö\n1,ä,é").subarray(0, -1), /is UTF-8 text with 1 damaged characters/);
  await refused(Buffer.from("\uFEFFa,b\n1,Rex\n", "utf16le").subarray(0, -1), /is not UTF-16LE text \(after line/);
});

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { anyText } from "../../test/support/any-text.ts";
import { xlsx } from "../../test/support/sheets.ts";
import { csvRows, formatDefault, type CsvFormat } from "./csv.ts";
import { rowsOf as rowsIn } from "./inspect.ts";
import { openFile } from "./local-files.ts";

const folder = await mkdtemp(join(tmpdir(), "petstore-csv-"));
after(() => rm(folder, { recursive: true }));
const file = join(folder, "a.csv");

async function rowsOf(content: string | Buffer, chosen: Partial<CsvFormat> = {}) {
  await writeFile(file, content);
  return Array.fromAsync(rowsIn(await openFile(file, chosen)));
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

test("a row has the number of the line where it begins, even after empty lines and cells of several lines", async () => {
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

test("rows with too few or too many cells are returned as they are", async () => {
  const rows = await rowsOf("a,b\n1\n1,2,3\n");
  assert.deepEqual(rows[1]?.cells, ["1"]);
  assert.deepEqual(rows[2]?.cells, ["1", "2", "3"]);
});

test("any table that is written as CSV is read back unchanged", async () => {
  const cell = anyText({ maxLength: 20 }).map((text) => text.replaceAll(/[\0\r\uFEFF]/g, ""));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 8 }), async (table) => {
      const rows = await rowsOf(stringify(table, { quoted: true, quoted_empty: true }), formatDefault);
      assert.deepEqual(
        rows.map(({ cells }) => cells),
        table,
      );
    }),
    { numRuns: 60 },
  );
});

const unclosed = "has a quote that is opened and not closed";
const misplaced = "has a quote in the wrong place";
/** Files with one odd row in line 3: what its problem is, and the cells of the row after it. */
const oddRows: Record<string, [text: string, problem: string | undefined, cells?: string[]]> = {
  "a quote that is never closed": ['3,"Tom,dog', unclosed],
  "a quote that the next row's quoted cell would close": ['3,"Tom,dog', unclosed, ["4", "Rex", "cat"]],
  "a quote that only a doubled one follows": ['3,"Tom ""the,dog', unclosed],
  "a lone quote": ['3,",dog', unclosed],
  "unescaped quotes around a delimiter": ['3,"Tom, the "king"",dog', misplaced],
  "text after a cell in quotes with a delimiter": ['3,"Tom, jr"x,dog', misplaced],
  "a quote in a cell without quotes": ['3,12" leash,dog', undefined],
  "quotes within a cell in quotes": ['3,"5" collar",dog', undefined],
  "spaces around quotes": ['3, "Tom, jr" ,dog', undefined],
};

for (const [name, [row, problem, next = ["4", "Rex", ""]]] of Object.entries(oddRows))
  test(`${name} makes one odd row at most, and the rows after it are read`, async () => {
    const following = next[2] === "" ? "4,Rex," : '4,"Rex",cat';
    for (const end of ["\n", "\r\n"]) {
      const rows = await rowsOf(["id,name,kind", "1,Bo,dog", row, following, "5,Kim,cat", ""].join(end));
      assert.deepEqual(
        rows.map(({ line }) => line),
        [1, 2, 3, 4, 5],
      );
      assert.deepEqual(
        rows.map((one) => one.problem),
        [undefined, undefined, problem, undefined, undefined],
      );
      assert.deepEqual(rows[3]?.cells, next);
      if (problem !== undefined) assert.deepEqual(rows[2]?.cells, row.split(","));
    }
  });

test("rows are the same however the bytes of a file arrive", async () => {
  const text = ["id,name", '1,"a\nb"', '2,"x', '3,"y"" z"', '4,12" z', "", '5,"q" ', '6,"p"x'].join("\r\n");
  const inChunks = async function* (size: number) {
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
  };
  const whole = await Array.fromAsync(csvRows(inChunks(1_000), "a.csv"));
  assert.deepEqual(
    whole.map(({ line, cells, problem }) => [line, cells[1], problem !== undefined]),
    [
      [1, "name", false],
      [2, "a\nb", false],
      [4, '"x', true],
      [5, 'y" z', false],
      [6, '12" z', false],
      [8, "q", false],
      [9, '"p"x', false],
    ],
  );
  for (let size = 1; size < 12; size++) assert.deepEqual(await Array.fromAsync(csvRows(inChunks(size), "a.csv")), whole, String(size));
});

test("a quote that is never closed in a large file costs its row alone, and so does each of many", async () => {
  const rows = await rowsOf('a,b\n1,"2\n' + "3,4\n".repeat(400_000));
  assert.deepEqual([rows.length, rows.filter(({ problem }) => problem !== undefined).length], [400_002, 1]);
  const odd = await rowsOf("a,b\n" + '1,"2\n'.repeat(20_000));
  assert.deepEqual([odd.length, odd.filter(({ problem }) => problem !== undefined).length], [20_001, 20_000]);
});

test("an enormous row costs itself alone, and little of it is kept", async () => {
  for (const cell of ["x".repeat(3_000_000), `"${"x".repeat(3_000_000)}"`, `"${"x,".repeat(1_500_000)}`]) {
    const [, bo, odd, rex, ...more] = await rowsOf(`a,b\n1,Bo\n2,${cell}\n3,Rex\n`);
    assert.deepEqual([bo?.cells, rex], [["1", "Bo"], { line: 4, cells: ["3", "Rex"] }]);
    assert.deepEqual(more, []);
    assert.match(odd?.problem ?? "", /^is over 1024000 characters$|^has a quote/);
    assert.ok((odd?.cells.join(",").length ?? 0) <= 3_000_010);
  }
});

test("a quote within a cell is a character like others", async () => {
  const rows = await rowsOf('a,b\n1,12" leash\n2,"x"2\n3,"a ""b"""\n');
  assert.deepEqual(
    rows.slice(1).map(({ cells }) => cells[1]),
    ['12" leash', '"x"2', 'a "b"'],
  );
});

test("the mark by which MS-DOS ended files is no row, wherever a chunk ends", async () => {
  for (const end of ["\u001a", "\r\n\u001a"])
    assert.deepEqual(
      (await rowsOf(`a,b\r\n1,2${end}`)).map(({ cells }) => cells),
      [
        ["a", "b"],
        ["1", "2"],
      ],
    );
});

test("an empty file, a folder and a missing file are refused", async () => {
  await refused("", /is empty/);
  await refused("\n\n", /is empty/);
  await assert.rejects(openFile(folder), { message: /is not a file/ });
  await assert.rejects(openFile(join(folder, "none.csv")), { message: /there is no such file/ });
});

const table = [
  ["animal", "café", "note"],
  ["1", "Rosé", "a, b; c"],
  ["2", "Žofie", "“x”"],
];

for (const delimiter of [",", ";", "\t", "|"])
  test(`a file that a spreadsheet wrote with ${JSON.stringify(delimiter)} between cells is read in each encoding`, async () => {
    const text = stringify(table, { delimiter, quoted: true });
    const written = {
      "UTF-8": Buffer.from(text),
      "UTF-8 with a mark": Buffer.from(`\uFEFF${text}`),
      "UTF-16": utf16(`\uFEFF${text}`),
      "UTF-16 without a mark": utf16(text),
      "big-endian UTF-16": utf16(`\uFEFF${text}`, true),
      "big-endian UTF-16 without a mark": utf16(text, true),
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

const utf16 = (text: string, isBig = false) => (isBig ? Buffer.from(text, "utf16le").swap16() : Buffer.from(text, "utf16le"));

/** Encodes Latin-1 letters and the few others that these tests contain. */
function inWindows1252(text: string): Buffer {
  const others: Record<string, number> = { Ž: 0x8e, "“": 0x93, "”": 0x94 };
  return Buffer.from(Array.from(text, (letter) => others[letter] ?? letter.charCodeAt(0)));
}

test("text with a damaged or cut character is refused, and the line is named", async () => {
  await refused(Buffer.concat([Buffer.from("a,b\n1,Zoë é\n2,"), Buffer.from([0xc3, 0x0a])]), /1 damaged characters, the first in line 3/);
  await refused(Buffer.from("é,ü,ö\n1,ä\n2,é").subarray(0, -1), /1 damaged characters, the first in line 3/);
  for (const isBig of [false, true]) {
    const cut = utf16("\uFEFFa,b\n1,Rex\n2,Tom", isBig).subarray(0, -1);
    await refused(cut, /ends in the middle of a UTF-16(LE|BE) character \(line 3\)/);
    await refused(utf16("\uFEFFa,b\n1,\uD83D\uDE00", isBig).subarray(0, -2), /ends in the middle of a UTF-16(LE|BE) character \(line 2\)/);
  }
});

test("a workbook is read by its content, whatever its name, and an empty one is refused", async () => {
  const book = (rows: string) => xlsx({ sheets: [{ name: "Pets", rows }] });
  const rows = await rowsOf(book('<row><c t="str"><v>id</v></c></row><row><c><v>985141000123456</v></c></row>'));
  assert.deepEqual(
    rows.map(({ line, cells }) => [line, cells]),
    [
      [1, ["id"]],
      [2, ["985141000123456"]],
    ],
  );
  await refused(book(""), /is empty: not even a header line/);
});

test("a file that is not text is refused before any of it is read as names", async () => {
  await refused(Buffer.concat([Buffer.from("a,b\n1,"), Buffer.from([1, 2, 3, 0xff, 0xfe])]), /is not a text file/);
  await refused(Buffer.from("d0cf11e0a1b11ae1", "hex"), /is a workbook of an old spreadsheet program.*Save it as \.xlsx/);
  await refused(Buffer.alloc(1), /is not a text file/);
  await refused(Buffer.alloc(300_000), /is not a text file/);
  await refused(Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), /is not a text file/);
  await refused('"', /has a header that cannot be read: line 1 has a quote that is opened and not closed/);
});

test("a control character in a cell does not refuse the file: the check of its row may", async () => {
  assert.deepEqual(await rowsOf("a,b\n1,R\0x\n"), [
    { line: 1, cells: ["a", "b"] },
    { line: 2, cells: ["1", "R\0x"] },
  ]);
  assert.deepEqual(
    (await rowsOf('"\0","\0"\n')).map((row) => row.cells),
    [["\0", "\0"]],
    "and NUL cells are not read as UTF-16",
  );
});

test("a header of 10 MB is refused after a small part of it is read", async () => {
  const chunk = Buffer.alloc(64 * 1024, "x");
  let chunks = 0;
  async function* bytes() {
    for (; chunks < 160; chunks += 1) yield chunk;
  }
  const words = /has a header that cannot be read: line 1 is over 1024000 characters/;
  await assert.rejects(Array.fromAsync(csvRows(bytes(), "a.csv")), { code: "invalid_request", message: words });
  assert.ok(chunks < 40, `${chunks} chunks of 64 KB`);
  await refused(Buffer.concat(Array.from({ length: 160 }, () => chunk)), words);
});

test("title lines above the header of a workbook are left out, and the header can be chosen", async () => {
  const cells = (line: number, ...texts: string[]) =>
    `<row r="${line}">${texts.map((text, i) => `<c r="${"ABC"[i]}${line}" t="inlineStr"><is><t>${text}</t></is></c>`).join("")}</row>`;
  const rows = cells(1, "Stray animals") + cells(3, "id", "name", "kind") + cells(4, "1", "Rex", "dog") + cells(5, "2", "Tom", "cat");
  const book = xlsx({ sheets: [{ name: "Pets", rows }] });
  const lines = async (chosen?: Partial<CsvFormat>) => (await rowsOf(book, chosen)).map(({ line }) => line);
  assert.deepEqual(await lines(), [3, 4, 5]);
  assert.deepEqual(await lines({ headerLine: 4 }), [4, 5]);
});

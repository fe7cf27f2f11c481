import assert from "node:assert/strict";
import { test } from "node:test";
import { ods, xlsx, xlsxParts, type Xlsx } from "../../../test/support/sheets.ts";
import { rawZip } from "../../../test/support/zip-bytes.ts";
import { Problem } from "../../platform/problem.ts";
import type { CsvRow } from "../csv.ts";
import { inspectFile } from "../inspect.ts";
import { openWorkbook, sheetOf, sheetsWithRows } from "./workbook.ts";

const accessTo = (bytes: Buffer) => ({ size: bytes.length, read: async (at: number, count: number) => bytes.subarray(at, at + count) });

async function rowsIn(bytes: Buffer, name?: string): Promise<CsvRow[]> {
  const workbook = await openWorkbook(accessTo(bytes), "pets.xlsx");
  return Array.fromAsync(workbook.rows(await sheetOf(workbook, "pets.xlsx", name)));
}

async function refused(bytes: Buffer, reason: RegExp): Promise<void> {
  await assert.rejects(
    rowsIn(bytes),
    (error) => error instanceof Problem && error.code === "invalid_request" && reason.test(error.message),
    String(reason),
  );
}

const sheet = (rows: string, rest: Partial<Xlsx> = {}): Buffer => xlsx({ sheets: [{ name: "Sheet1", rows }], ...rest });
const cellsOf = async (cells: string, rest?: Partial<Xlsx>): Promise<string[] | undefined> =>
  (await rowsIn(sheet(`<row r="1">${cells}</row>`, rest)))[0]?.cells;

test("texts are read whether they are shared, inline, of a formula, in pieces of a style or with a reading aid", async () => {
  const strings =
    '<si><t>Rex</t></si><si><r><rPr><b/></rPr><t xml:space="preserve">Lu </t></r><r><t>&amp; na</t></r></si><si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si><si><t>a_x000D_b</t></si><si/>';
  const cells =
    '<c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c><c r="D1" t="s"><v>3</v></c><c r="E1" t="s"><v>4</v></c>' +
    '<c r="F1" t="inlineStr"><is><t>in &#x4c;ine</t></is></c><c r="G1" t="str"><f>A1&amp;"x"</f><v>Rexx</v></c><c r="H1" t="e"><v>#N/A</v></c><c r="I1" t="b"><v>1</v></c>';
  assert.deepEqual(await cellsOf(cells, { strings }), ["Rex", "Lu & na", "東京", "a\rb", "", "in Line", "Rexx", "", "TRUE"]);
});

test("numbers keep all digits of an integer, and others the digits that a spreadsheet shows", async () => {
  const numbers: [string, string][] = [
    ["985141000123456", "985141000123456"],
    ["9.85141000123456E+14", "985141000123456"],
    ["9.85E+20", "9.85E+20"],
    ["0.30000000000000004", "0.3"],
    ["1E-3", "0.001"],
    ["-12", "-12"],
  ];
  const cells = numbers.map(([value]) => `<c><v>${value}</v></c>`).join("");
  assert.deepEqual(
    await cellsOf(cells),
    numbers.map(([, text]) => text),
  );
});

test("numbers with a date's format are ISO dates, counted from 1900 or 1904", async () => {
  const styles =
    '<numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy hh:mm"/><numFmt numFmtId="165" formatCode="[Red]0.00&quot; days&quot;"/></numFmts>' +
    '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs>';
  const cells =
    '<c s="0"><v>45413</v></c><c s="1"><v>45413</v></c><c s="2"><v>45413.5625</v></c><c s="3"><v>3</v></c><c s="2"><v>0.5</v></c><c s="1"><v>1</v></c><c s="1"><v>61</v></c>';
  assert.deepEqual(await cellsOf(cells, { styles }), [
    "45413",
    "2024-05-01",
    "2024-05-01T13:30:00",
    "3",
    "12:00:00",
    "1900-01-01",
    "1900-03-01",
  ]);
  assert.deepEqual(await cellsOf('<c s="1"><v>0</v></c>', { styles, workbook: '<workbookPr date1904="1"/>' }), ["1904-01-01"]);
});

test("cells and rows that are missing leave their places empty, and lines are the sheet's", async () => {
  const rows =
    '<row r="2"><c r="A2"><v>1</v></c><c r="C2"><v>3</v></c></row><row r="4"/><row r="7"><c r="B7"><v>2</v></c></row><row><c><v>8</v></c></row>';
  assert.deepEqual(await rowsIn(sheet(rows)), [
    { line: 2, cells: ["1", "", "3"] },
    { line: 7, cells: ["", "2"] },
    { line: 8, cells: ["8"] },
  ]);
});

test("the first visible sheet is read unless another one is chosen", async () => {
  const named = (name: string, state?: string) => ({
    name,
    ...(state !== undefined && { state }),
    rows: `<row r="1"><c t="str"><v>${name}</v></c></row>`,
  });
  const book = xlsx({ sheets: [named("Lists", "veryHidden"), named("Pets"), named("Old")] });
  assert.deepEqual(
    (await openWorkbook(accessTo(book), "a")).sheets.map(({ name, isHidden }) => [name, isHidden]),
    [
      ["Lists", true],
      ["Pets", false],
      ["Old", false],
    ],
  );
  assert.deepEqual((await rowsIn(book))[0]?.cells, ["Pets"]);
  assert.deepEqual((await rowsIn(book, "Old"))[0]?.cells, ["Old"]);
  await assert.rejects(rowsIn(book, "None"), /has no sheet "None", but "Lists", "Pets", "Old"/);
});

test("names may have a prefix, and part names other capitals, as some programs write them", async () => {
  const parts = xlsxParts({ sheets: [{ name: "A", rows: "" }] }).map((part) =>
    part.name === "xl/worksheets/sheet1.xml"
      ? {
          name: "xl/worksheets/Sheet1.xml",
          content: '<x:worksheet xmlns:x="m"><x:sheetData><x:row><x:c t="str"><x:v>Rex</x:v></x:c></x:row></x:sheetData></x:worksheet>',
        }
      : part,
  );
  assert.deepEqual(await rowsIn(rawZip(parts)), [{ line: 1, cells: ["Rex"] }]);
});

test("OpenDocument: values, repeated cells and rows, notes, hidden sheets, and a million empty rows", async () => {
  const text = (value: string, more = "") =>
    `<table:table-cell office:value-type="string"${more}><text:p>${value}</text:p></table:table-cell>`;
  const empty = '<table:table-cell table:number-columns-repeated="16384"/>';
  const rows =
    `<table:table-row>${text("id")}${text('a<text:s text:c="2"/>b')}${text("x", ' table:number-columns-repeated="2"')}${empty}</table:table-row>` +
    `<table:table-row table:number-rows-repeated="3">${empty}</table:table-row>` +
    `<table:table-row><table:table-cell office:value-type="float" office:value="9.85141000123456E+14"><text:p>9,85E+14</text:p></table:table-cell><table:table-cell/><table:table-cell office:value-type="date" office:date-value="2024-05-01T00:00:00"><text:p>1. Mai</text:p></table:table-cell><table:table-cell office:value-type="boolean" office:boolean-value="true"/><table:table-cell office:value-type="string"><office:annotation><text:p>note</text:p></office:annotation><text:p>one</text:p><text:p><text:span>two</text:span></text:p></table:table-cell></table:table-row>` +
    `<table:table-row table:number-rows-repeated="2">${text("Rex")}</table:table-row>` +
    `<table:table-row table:number-rows-repeated="1048568">${empty}</table:table-row>`;
  const styles = '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>';
  const book = ods(
    `<table:table table:name="Hidden" table:style-name="ta2"><table:table-row>${text("no")}</table:table-row></table:table><table:table table:name="Pets">${rows}</table:table>`,
    styles,
  );
  assert.deepEqual(await rowsIn(book), [
    { line: 1, cells: ["id", "a  b", "x", "x"] },
    { line: 5, cells: ["985141000123456", "", "2024-05-01", "TRUE", "one\ntwo"] },
    { line: 6, cells: ["Rex"] },
    { line: 7, cells: ["Rex"] },
  ]);
});

test("a damaged workbook is refused: missing parts, references to nothing, rows out of order, cut or cyclic XML", async () => {
  await refused(rawZip([{ name: "a.txt", content: "x" }]), /not a workbook/);
  await refused(
    rawZip(xlsxParts({ sheets: [{ name: "A", rows: "" }] }).filter(({ name }) => !String(name).includes("sheet1"))),
    /sheet1\.xml" is missing/,
  );
  await refused(sheet('<row r="1"><c t="s"><v>0</v></c></row>'), /it has no text "0"/);
  for (const reference of ["XFE1", "1A", "A", "ZZZ1", "A1:B2"])
    await refused(sheet(`<row r="1"><c r="${reference}"><v>1</v></c></row>`), /it has a cell at/);
  await refused(sheet('<row r="2"/><row r="1"/>'), /comes after row 2/);
  await refused(sheet("<row><c>"), /breaks off/);
  await refused(sheet("<a>".repeat(100) + "</a>".repeat(100)), /too deep/);
  const self = xlsxParts({ sheets: [{ name: "A", rows: "" }] }).map((part) =>
    part.name === "xl/_rels/workbook.xml.rels"
      ? { ...part, content: String(part.content).replace("worksheets/sheet1.xml", "workbook.xml") }
      : part,
  );
  assert.deepEqual(await rowsIn(rawZip(self)), [], "a workbook that names itself as its sheet has no rows");
});

test("a document type, with which entities begin, is refused", async () => {
  const parts = xlsxParts({ sheets: [{ name: "A", rows: "" }] }).map((part) =>
    part.name === "xl/worksheets/sheet1.xml"
      ? {
          ...part,
          content:
            '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><worksheet><sheetData><row><c t="str"><v>&b;</v></c></row></sheetData></worksheet>',
        }
      : part,
  );
  await refused(rawZip(parts), /has a document type/);
});

test("the first visible sheet with rows is read unless another is named, and those with rows are listed", async () => {
  const cell = (text: string) => `<row r="1"><c t="str"><v>${text}</v></c></row>`;
  const sheets = [
    { name: "Empty", rows: '<row r="1"><c t="str"><v></v></c></row>' },
    { name: "Hidden", rows: cell("h"), state: "hidden" },
    { name: "Pets", rows: cell("p") },
    { name: "Damaged", rows: '<row r="1"><c t="s"><v>9</v></c></row>' },
  ];
  const table = (name: string, text: string) =>
    `<table:table table:name="${name}"><table:table-row><table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell></table:table-row></table:table>`;
  for (const [book, listed] of [
    [xlsx({ sheets }), ["Pets", "Damaged"]],
    [ods(table("Empty", "") + table("Pets", "p") + table("Hidden", "h")), ["Pets", "Hidden"]],
  ] as const) {
    const workbook = await openWorkbook(accessTo(book), "pets.xlsx");
    assert.deepEqual(
      (await sheetsWithRows(workbook)).map(({ name }) => name),
      listed,
    );
    assert.deepEqual(await rowsIn(book), [{ line: 1, cells: ["p"] }]);
    assert.deepEqual(await rowsIn(book, "Hidden"), [{ line: 1, cells: ["h"] }]);
    await assert.rejects(rowsIn(book, "Others"), /has no sheet "Others", but "Empty"/);
  }
  assert.deepEqual(await rowsIn(xlsx({ sheets: sheets.slice(0, 1) })), [], "a workbook without rows");
});

test("a row of too many characters is a row with a problem, of which little is kept", async () => {
  const text = "x".repeat(1_000_000);
  const rows = `<row r="1"><c><v>1</v></c></row><row r="2">${'<c t="s"><v>0</v></c>'.repeat(3)}</row><row r="3"><c t="str"><v>${text.repeat(3)}</v></c></row><row r="4"><c><v>4</v></c></row>`;
  const [one, two, three, four] = await rowsIn(sheet(rows, { strings: `<si><t>${text}</t></si>` }));
  assert.deepEqual([one?.cells, four], [["1"], { line: 4, cells: ["4"] }]);
  for (const row of [two, three]) assert.equal(row?.problem, "is over 1024000 characters");
  assert.equal(three?.cells[0]?.length, 1_000);
});

test("bombs are refused: shared texts, a tag without an end, cells far to the right", async () => {
  const text = "x".repeat(1_000_000);
  await refused(sheet("", { strings: `<si><t>${text}</t></si>`.repeat(34) }), /over 64 MiB of different texts/);
  await refused(sheet(`<row a="${text}${text}`), /a tag that does not end/);
  const wide = Array.from({ length: 70 }, (_, line) => `<row r="${line + 2}"><c r="XFD${line + 2}"><v>1</v></c></row>`).join("");
  await refused(sheet(`<row r="1"><c><v>1</v></c></row>${wide}`), /far to the right/);
});

test("a header line beyond the rows of a sheet is refused as that of a text file is", async () => {
  const access = accessTo(sheet('<row r="1"><c t="inlineStr"><is><t>name</t></is></c></row><row r="2"><c><v>1</v></c></row>'));
  const input = { name: "pets.xlsx", access, bytes: () => assert.fail("read as text"), chosen: { headerLine: 9 } };
  await assert.rejects(inspectFile(input), { code: "invalid_request", message: "pets.xlsx has no line 9, which should be the header." });
});

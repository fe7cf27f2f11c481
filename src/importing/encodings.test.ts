import assert from "node:assert/strict";
import { test } from "node:test";
import { csvRows, type CsvFormat } from "./csv.ts";
import { encodingNamed, encodings, strictDecoder, type Encoding } from "./encodings.ts";
import { detectFormat } from "./inspect.ts";

/** Encodes text by the decoder of an encoding of single bytes. */
function encoded(text: string, encoding: Encoding): Uint8Array {
  const bytes = new Map<string, number>();
  for (let byte = 255; byte >= 0; byte--) {
    try {
      bytes.set(strictDecoder(encoding).decode(Uint8Array.of(byte)), byte);
    } catch {
      // this byte is no character
    }
  }
  return Uint8Array.from(text, (character) => bytes.get(character) ?? assert.fail(`${encoding} has no ${character}`));
}

const once = (bytes: Uint8Array) =>
  (async function* () {
    yield await Promise.resolve(bytes);
  })();
const detected = (bytes: Uint8Array, chosen: Partial<CsvFormat> = {}) => detectFormat(once(bytes), "a.csv", { chosen });

const russian = "Шарик Мурка Барсик Рыжик Снежок Пушок Тузик Жучка Васька Дымок Муся Кеша".split(" ");
const german = "Müller Bärchen Löwe Süße Größe Kätzchen Jürgen Schäfchen Möhre Füchsin Äffchen".split(" ");
const polish = "Żółw Świstak Łata Ćma Pączek Śnieżka Gwiazdka Kłębek Źrebię Mruczuś Wąsik".split(" ");
const shiftJis = Uint8Array.from(Buffer.from("83568383815b838b0a838883750a94c20a836f8362834f", "hex"));

const tableOf = (names: readonly string[]) => `name;kind\n${names.map((name) => `${name};dog`).join("\n")}\n`;

test("text in the usual encodings is read as it is meant", async () => {
  for (const [encoding, names] of [
    ["windows-1251", russian],
    ["koi8-r", russian],
    ["ibm866", russian],
    ["windows-1252", german],
    ["windows-1250", polish],
  ] as const) {
    const bytes = encoded(tableOf(names), encoding);
    const { format, readings } = await detected(bytes);
    assert.deepEqual([format.encoding, format.delimiter, readings], [encoding, ";", undefined]);
    const rows = await Array.fromAsync(csvRows(once(bytes), "a.csv", format));
    assert.deepEqual(
      rows.slice(1).map(({ cells }) => cells[0]),
      names,
    );
  }
});

test("what could be read in several ways is asked, and read as it is chosen", async () => {
  const bytes = encoded(tableOf(["Шарик"]), "windows-1251");
  const { readings = [] } = await detected(bytes);
  assert.ok(readings.length > 1 && readings.every(({ cells }) => cells.length > 0), JSON.stringify(readings));
  const chosen = await detected(bytes, { encoding: "windows-1251" });
  assert.deepEqual([chosen.format.encoding, chosen.readings], ["windows-1251", undefined]);
});

test("Japanese in Shift_JIS is recognized or asked, never taken for a European encoding", async () => {
  const { format, readings } = await detected(shiftJis);
  assert.ok(format.encoding === "shift_jis" || readings !== undefined, format.encoding);
});

test("UTF-8 whose first letter beyond ASCII comes after a mebibyte is UTF-8", async () => {
  const { format } = await detected(new TextEncoder().encode(`name,kind\n${"Rex,dog\n".repeat(150_000)}Größe,dog\n`));
  assert.equal(format.encoding, "utf-8");
});

test("lines above the header are left out, and rows keep the numbers of their lines", async () => {
  const bytes = new TextEncoder().encode("Stray animals 2026,,\n\nid,name,kind\n1,Rex,dog\n2,Tom,cat\n3,Kim,dog\n");
  const { format } = await detected(bytes);
  assert.equal(format.headerLine, 3);
  const rows = await Array.fromAsync(csvRows(once(bytes), "a.csv", format));
  assert.deepEqual(
    rows.map(({ line, cells }) => [line, cells[0]]),
    [
      [3, "id"],
      [4, "1"],
      [5, "2"],
      [6, "3"],
    ],
  );
  await assert.rejects(Array.fromAsync(csvRows(once(bytes), "a.csv", { ...format, headerLine: 9 })), /has no line 9/);
});

test("an encoding has many names", () => {
  for (const [name, encoding] of [
    ["cp1251", "windows-1251"],
    ["latin1", "windows-1252"],
    ["IBM850", "cp850"],
    ["GBK", "gb18030"],
    ["MacRoman", "macintosh"],
    ["sjis", "shift_jis"],
  ] as const)
    assert.equal(encodingNamed(name), encoding);
  assert.equal(encodingNamed("klingon"), undefined);
  for (const encoding of encodings) assert.equal(encodingNamed(encoding), encoding);
});

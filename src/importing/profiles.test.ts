import assert from "node:assert/strict";
import { test } from "node:test";
import { addressesIn, profileReader, readPhotos } from "./profiles.ts";

const one = "https://img.example.org/w_100,h_80/a, b.jpg?x=1;2|3";

test("addresses in one cell are separated, and keep the commas, semicolons and bars that they contain", () => {
  const plain = ["https://a.example/1,2.jpg", "http://b.example/?u=https://c.example/3.jpg", "HTTPS://d.example/4;5.jpg"];
  for (const between of [", ", ",", "; ", "|", " ", "\n", " , ; "])
    assert.deepEqual(addressesIn(`${plain.join(between)}${between}`), plain);
  assert.deepEqual(addressesIn(""), []);
});

test("a text that is no web address is refused, a repeated address counts once, and more than ten are refused", () => {
  for (const wrong of [
    "rex.jpg",
    "ftp://a.example/1.jpg",
    one,
    "https://",
    "rex.jpg, https://a.example/1.jpg",
    `https://a.example/${"x".repeat(2_000)}`,
  ])
    assert.ok("reason" in readPhotos([wrong]), wrong);
  assert.deepEqual(readPhotos(["HTTP://A.example/1.jpg", "", "http://A.example/1.jpg"]), ["http://A.example/1.jpg"]);
  const many = Array.from({ length: 11 }, (_, n) => `https://a.example/${n}.jpg`);
  assert.deepEqual(readPhotos([many.join(", ")]), { reason: "has 11 photos, more than 10" });
  assert.deepEqual(readPhotos(many.slice(1)), many.slice(1));
});

test("facts are read from their columns, a birth as a year or a day, and empty cells say nothing", () => {
  const field = (column: string) => ({ columns: [column] });
  const facts = { breed: field("Breed"), born: field("Born"), own: ["Chip"] };
  const mapping = { name: field("Name"), category: field("Kind"), facts };
  const read = profileReader(mapping, ["Name", "Kind", "Breed", "Born", "Chip"])!;
  const row = (...cells: string[]) => read(["Rex", "Dog", ...cells]);
  assert.deepEqual(row(" Beagle ", "2024-05-17 00:00:00", "276"), {
    facts: { breed: "Beagle", born: "2024-05-17", own: [{ name: "Chip", value: "276" }] },
  });
  assert.deepEqual([row("", "2019", ""), row("", " ", "")], [{ facts: { born: "2019" } }, {}]);
  for (const written of ["17.05.2024", "17. 5. 2024", "17.05.2024 00:00:00", "2024/5/17", "2024.05.17"])
    assert.deepEqual(row("", written, ""), { facts: { born: "2024-05-17" } }, written);
  for (const [column, ...cells] of [
    ["Born", "", "05/17/2024", ""],
    ["Born", "", "05.17.2024", ""],
    ["Born", "", "2024-13-01", ""],
    ["Born", "", "2023-02-29", ""],
    ["Breed", "x".repeat(101), "", ""],
    ["Chip", "", "", "x".repeat(201)],
  ] as const)
    assert.match((row(...cells) as { reason: string }).reason, new RegExp(`^${column}: `));
});

test("a long cell takes linear time", () => {
  const startedAt = performance.now();
  addressesIn(", ".repeat(64_000));
  addressesIn("https://".repeat(16_000));
  assert.ok(performance.now() - startedAt < 1_000);
});

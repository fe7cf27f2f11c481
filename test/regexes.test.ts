import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { regexesOf, slowOnes } from "./regexes.ts";

const root = new URL("../", import.meta.url);
/** Expressions that are put together at run time, which cannot be checked here, each with the reason why it is safe. */
const composedAllowed: Record<string, string> = {
  'src/platform/folding.ts: new RegExp(`[${active}${classOf(ranges.join(" "))}]`, "gu")': "one class of characters",
  'src/platform/folding.ts: new RegExp(`[${classOf(marks)}${apostrophes}]`, "gu")': "one class of characters",
  'src/platform/folding.ts: new RegExp(`[^\\\\0-\\\\x7f${active}]+`, "gu")': "runs of one class of characters",
  'src/platform/http/value-checks.ts: new RegExp(pattern, "u")': "the patterns of schemas, each checked where it is written",
};

test("every regular expression of the service and of its client takes linear time", async () => {
  const paths = globSync(["src/**/*.ts", "client/*.ts"], { cwd: root }).filter((path) => !path.endsWith(".test.ts"));
  const files = paths.map((path) => ({ path: path.replaceAll("\\", "/"), text: readFileSync(new URL(path, root), "utf8") }));
  const { regexes, composed } = regexesOf(files);
  assert.ok(regexes.length > 80 && regexes.some(({ pattern, flags }) => pattern === "^[^\\x00]*$" && flags === "u"));
  assert.deepEqual(composed.toSorted(), Object.keys(composedAllowed));
  assert.deepEqual(await slowOnes(regexes), []);
});

const inFile = (text: string) => regexesOf([{ path: "src/a.ts", text }]);

test("every expression is found wherever it is written, and one that is put together at run time is reported", () => {
  const text = `
    export const a = (text: string): boolean => /a+/i.test(text) && text.split(/,/u).length > 1;
    const b = { pattern: one ? "^b$" : "^c$", text: \`\${"x".replace(/d/, "")}\` };
    // no /comment/, and no "/text/"
    function pattern({ pattern }: { pattern: string }) { return new RegExp(pattern + "$"); }
    const d = { pattern: \`^\${name}$\` };`;
  const { regexes, composed } = inFile(text);
  assert.deepEqual(
    regexes.map(({ pattern, flags }) => `/${pattern}/${flags}`),
    ["/a+/i", "/,/u", "/^b$/u", "/^c$/u", "/d/"],
  );
  assert.deepEqual(composed, ['src/a.ts: new RegExp(pattern + "$")', "src/a.ts: pattern: `^${name}$`"]);
});

const slow = [
  String.raw`const name = { pattern: "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$" };`,
  String.raw`item.split(/\s*;\s*/);`,
  String.raw`value.replace(/[*\s]+$/, "");`,
  String.raw`/^(a+)+$/.test(text);`,
  String.raw`/^(?:ab|a)*(?:ba)*(?:ab)*$/.test(text);`,
];

for (const text of slow) {
  test(`a text rule that takes more than linear time is refused: ${text}`, async () => {
    const { regexes } = inFile(text);
    assert.equal(regexes.length, 1);
    assert.match((await slowOnes(regexes)).join(), /^src\/a\.ts: \/.*(polynomial|exponential) time$/);
  });
}

test("an expression that cannot be parsed or decided does not count as safe", async () => {
  assert.match((await slowOnes([{ path: "src/a.ts", pattern: "(", flags: "" }])).join(), /could not be decided/);
});

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

const sources = globSync("src/**/*.ts")
  .filter((path) => !path.endsWith(".test.ts"))
  .map((path) => ({ path, text: readFileSync(path, "utf8") }));

/** The bodies of the functions at the top level of a file, by name. */
function functionsOf(text: string): { name: string; body: string }[] {
  const starts = [...text.matchAll(/^(?:export )?(?:async )?function (\w+)/gm)];
  return starts.map(({ 1: name, index }, i) => ({ name: name!, body: text.slice(index, starts[i + 1]?.index) }));
}

/** Rows that are older than a time, or whose time has come, are deleted. */
const deletesByTime =
  /DELETE FROM [\s\S]*?\b(?:at|until|created_at|made_at|freed_at|expires_at|\w+_at) (?:<|<=) \$\{(?:now|before|earliest)/;

type Call = { path: string; line: string; caller: string | undefined };

function callsOf(name: string): Call[] {
  const call = new RegExp(`(?<!function )\\b${name}\\(`);
  return sources.flatMap(({ path, text }) =>
    text
      .split("\n")
      .filter((line) => call.test(line))
      .map((line) => ({ path, line, caller: functionsOf(text).find(({ body }) => body.includes(line))?.name })),
  );
}

/** The calls of a function that are in no sweep, and of the functions that call it. `blobs` passes on the time of its sweep. */
function callsBeside(name: string, seen = new Set<string>()): Call[] {
  if (seen.has(name)) return [];
  seen.add(name);
  return callsOf(name)
    .filter(({ line }) => !/\bsweep\(|: \(now\) => db\.write/.test(line))
    .flatMap((call) => {
      const isFree = call.caller === undefined || callsOf(call.caller).length === 0;
      return isFree ? [call] : callsBeside(call.caller!, seen);
    });
}

test("all work that deletes by time runs in a sweep, which the clock can stop", () => {
  const names = sources.flatMap(({ text }) => functionsOf(text).flatMap(({ name, body }) => (deletesByTime.test(body) ? [name] : [])));
  assert.ok(names.length >= 9, names.join(", "));
  for (const name of [...names, "expireEvents", "expireUsage", "expireRequests"]) {
    assert.ok(callsOf(name).length > 0, `${name} is not called`);
    assert.deepEqual(callsBeside(name), []);
  }
});

test("no repeated work takes the time from a clock", () => {
  const found = sources.flatMap(({ path, text }) => (/\brepeat\([^;\n]*\bclock\(\)/.test(text) ? [path] : []));
  assert.deepEqual(found, []);
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { measureAlternately, parseGoal, type Figure } from "../bench/figures.ts";
import { compareRow, missingRow, onlyNamed, readRows, rowOf, suiteNames, tolerance, withTable, type SuiteName } from "../bench/table.ts";
import { attempt } from "../src/platform/parse.ts";
import { temporaryFolder } from "./support/folder.ts";
import { until } from "./support/until.ts";

const bench = fileURLToPath(new URL("../bench/bench.ts", import.meta.url));
const page = readFileSync(new URL("../docs/performance.md", import.meta.url), "utf8");

async function run(...words: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // as a reader runs it, and not as part of a test
  const child = spawn(process.execPath, [bench, ...words], { env, stdio: ["ignore", "pipe", "pipe"] });
  const closed = once(child, "close") as Promise<[number | null]>;
  const [[code], out, err] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  return { code, out, err };
}

test("a wrong command line prints one line on stderr, and measures nothing", async () => {
  const suite = await run("speed", "--check");
  assert.deepEqual([suite.code, suite.out], [2, ""]);
  assert.match(suite.err, /^there is no suite speed: there are store, [^\n]+\n$/);
  const option = await run("--chek");
  assert.deepEqual([option.code, option.out], [2, ""]);
  assert.match(option.err, /^Unknown option '--chek'[^\n]*\n$/);
  const both = await run("store", "--quick", "--check");
  assert.deepEqual([both.code, both.out], [2, ""]);
  assert.match(both.err, /^--quick measures other shops [^\n]+\n$/);
});

test("a measurement that gets SIGTERM leaves no process and no folder behind", async (t) => {
  const temporary = temporaryFolder(t);
  const child = spawn(process.execPath, [bench, "store", "--quick"], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ["ignore", "ignore", "pipe"],
  });
  t.after(() => child.kill("SIGTERM"));
  const ended = once(child, "exit") as Promise<[number | null]>;
  const errors = text(child.stderr);
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  await until(() => isOver() || commandsBelow(temporary).some((command) => command.includes("petstore.mjs serve")));
  if (isOver()) assert.fail(`the measurement ended before its service had started: ${await errors}`);
  child.kill("SIGTERM");
  assert.deepEqual((await ended)[0], 143);
  await until(() => commandsBelow(temporary).length === 0);
  assert.deepEqual(readdirSync(temporary), []);
});

/** The commands of the processes whose TMPDIR is this folder or one below it (proc(5)). */
function commandsBelow(folder: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => fileOf(name, "environ").some((variable) => variable.startsWith(`TMPDIR=${folder}`)))
    .map((name) => fileOf(name, "cmdline").join(" "));
}

/** The strings in a file of `/proc`; none for a process that has ended, or that belongs to another user. */
function fileOf(pid: string, name: "environ" | "cmdline"): string[] {
  return (attempt(() => readFileSync(`/proc/${pid}/${name}`, "utf8")) ?? "").split("\0");
}

test("docs/performance.md has the table of bench/table.json, and each row has a unique id and a goal", () => {
  const rows = readRows();
  assert.equal(withTable(page, rows), page, "run npm run bench, which writes both");
  assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length);
  for (const { id, suite, goal } of rows) {
    assert.match(id, /^[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*$/);
    assert.ok(suiteNames.includes(suite), `${id}: ${suite}`);
    assert.ok(parseGoal(goal).bound > 0, id);
  }
  const suites = [...new Set(rows.map(({ suite }) => suite))];
  const named = (suite: SuiteName): boolean => onlyNamed.includes(suite);
  assert.deepEqual(
    suites.filter((suite) => !named(suite)),
    suiteNames.filter((suite) => !named(suite)),
    "all suites, in their order",
  );
  const [listed = ""] = /measures these suites only: ([^|]+)/.exec(page)?.slice(1) ?? [];
  assert.deepEqual(
    Array.from(listed.matchAll(/`(\w+)`/g), ([, name]) => name),
    [...suiteNames],
  );
  assert.ok(page.includes(`worse by more than ${tolerance * 100} %`));
});

const figure = (rounds: number[], goal: string): Figure => {
  const ratio = rounds.toSorted((a, b) => a - b)[Math.floor(rounds.length / 2)]!;
  return { id: "row", what: "a row", ours: ratio, against: 1, unit: "s", ratio, rounds, goal };
};

test("a check finds a row that got worse, one that held, and one that the machine cannot measure", () => {
  const more = rowOf("store", figure([1], "≥ 0.5"));
  const outcome = (rounds: number[]) => compareRow(figure(rounds, "≥ 0.5"), more).outcome;
  assert.equal(outcome([0.9, 0.9, 0.86, 1, 1.4]), "held");
  assert.equal(outcome([0.8, 0.84, 0.7, 0.84, 0.84]), "worse", "although it reaches its goal");
  assert.equal(outcome([0.8, 0.8, 0.9, 0.9, 0.9]), "unsure");
  assert.equal(outcome([0.1, 0.9, 0.9, 0.9, 0.9]), "held", "one disturbed round does not decide");
  assert.equal(outcome([0.84, 0.84, 0.84, 0.84, 2]), "worse");
  assert.equal(outcome([0.84, 0.9, 0.9]), "unsure", "with few rounds, none is ignored");

  const less = rowOf("store", figure([0.5], "≤ 1"));
  assert.equal(compareRow(figure([0.57], "≤ 1"), less).outcome, "held");
  assert.equal(compareRow(figure([0.58], "≤ 1"), less).outcome, "worse", "although it reaches its goal");
  assert.match(compareRow(figure([0.58], "≤ 1"), less).text, /^row: 0\.58 .*committed 0\.50/);
  assert.equal(compareRow(figure([1], "≤ 1"), undefined).outcome, "worse", "a row that is not committed");
  assert.equal(missingRow(less).outcome, "worse");
  assert.equal(missingRow({ ...less, needs: "Go" }).outcome, "unsure");
});

test("a comparison alternates its two measurements, and leaves out the first round", async () => {
  const order: string[] = [];
  let ours = 0;
  const next = (who: string, value: number): Promise<number> => {
    order.push(who);
    return Promise.resolve(value);
  };
  const measured = await measureAlternately(
    3,
    () => next("ours", [100, 1, 3, 2][ours++]!),
    () => next("against", 2),
  );
  assert.deepEqual(measured, { ours: 2, against: 2, ratio: 1, rounds: [0.5, 1.5, 1] });
  assert.deepEqual(order, Array.from({ length: 4 }, () => ["against", "ours"]).flat());
});

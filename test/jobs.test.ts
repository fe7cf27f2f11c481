import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";
import { runJobs, type JobReport } from "./jobs.ts";
import { temporaryFolder } from "./support/folder.ts";

async function runFiles(repeatedMax: number, ...files: string[][]): Promise<JobReport & { output: string }> {
  let output = "";
  const write = (text: string): void => void (output += text);
  const jobs = files.map((some) => ({ engine: "sqlite", files: some.map((file) => relative(process.cwd(), file)), isRepeatable: true }));
  return { ...(await runJobs(jobs, { atOnce: 4, jobMsMax: 60_000, repeatedMax, write })), output };
}

test("an error that nothing catches fails its file, also where a test that waits has already ended well", async (t) => {
  const folder = temporaryFolder(t);
  const lost = `new Error("nothing catches this")`;
  const turn = `await new Promise((resolve) => setImmediate(resolve));`;
  const causes = {
    thrown: `setImmediate(() => { throw ${lost}; });`,
    rejected: `void Promise.reject(${lost});`,
    "thrown-later": `${turn} setTimeout(() => { throw ${lost}; }, 1);`,
    "rejected-later": `${turn} void Promise.reject(${lost});`,
  };
  const files = Object.entries(causes).map(([name, cause]) => {
    const file = join(folder, `${name}.test.mjs`);
    writeFileSync(file, `import { test } from "node:test";\ntest("${name}", async () => { ${turn} ${cause} });\n`);
    return file;
  });
  const { failed, output } = await runFiles(0, ...files.map((file) => [file]));
  assert.deepEqual(failed.toSorted(), files.map((file) => relative(process.cwd(), file)).toSorted());
  assert.ok(output.split("nothing catches this").length > files.length);
});

test("the test runner does not watch promises, which would cost a quarter of the time of a file with many requests", async (t) => {
  const file = join(temporaryFolder(t), "watched.test.mjs");
  const body = `await null; if (executionAsyncId() !== 0) throw new Error("a promise has an id");`;
  const imports = `import { executionAsyncId } from "node:async_hooks";\nimport { test } from "node:test";\n`;
  writeFileSync(file, `${imports}test("watched", async () => { ${body} });\n`);
  const { failed, tests } = await runFiles(0, [file]);
  assert.deepEqual({ failed, tests }, { failed: [], tests: 1 });
});

test("a file that fails is repeated once if few failed, and the run says so", async (t) => {
  const folder = temporaryFolder(t);
  const failing = (name: string, when: string): string => {
    const file = join(folder, `${name}.test.mjs`);
    const body = `import { existsSync, writeFileSync } from "node:fs";\nimport { test } from "node:test";\ntest("${name}", () => { ${when} });\n`;
    writeFileSync(file, body);
    return file;
  };
  const marker = (name: string): string => JSON.stringify(join(folder, name));
  const first = (name: string): string =>
    failing(name, `if (existsSync(${marker(name)})) return; writeFileSync(${marker(name)}, ""); throw new Error("the first time");`);
  const always = failing("always", `throw new Error("each time");`);
  const passing = failing("passing", "");
  type Seen = { isFailed: boolean; counts: number[]; repeated?: string };
  const run = async (repeatedMax: number, ...files: string[][]): Promise<Seen> => {
    const { failed, tests, passed, output } = await runFiles(repeatedMax, ...files);
    const repeated = /^FAILED ONCE, and now repeated alone: .*?([\w-]+)\.test\.mjs$/m.exec(output)?.[1];
    return { isFailed: failed.length > 0, counts: [tests, passed], ...(repeated && { repeated }) };
  };
  assert.deepEqual(await run(1, [passing]), { isFailed: false, counts: [1, 1] });
  for (const name of ["alone", "together"]) {
    const jobs = (...files: string[]): string[][] => (name === "alone" ? files.map((file) => [file]) : [files]);
    assert.deepEqual(await run(0, ...jobs(first(`strict-${name}`), passing)), { isFailed: true, counts: [2, 1] });
    assert.deepEqual(await run(1, ...jobs(first(`once-${name}`), passing)), { isFailed: false, counts: [2, 2], repeated: `once-${name}` });
    assert.deepEqual(await run(1, ...jobs(always, passing)), { isFailed: true, counts: [2, 1], repeated: "always" });
    const both = [first(`one-${name}`), first(`another-${name}`)];
    assert.deepEqual(await run(1, ...jobs(...both)), { isFailed: true, counts: [2, 0] }, "more than may be repeated");
  }
});

test("a job in turn runs the hooks of each file around its own tests, and a hook that fails or a file that does not load fails that file", async (t) => {
  const folder = temporaryFolder(t);
  const write = (name: string, text: string): string => {
    const file = join(folder, `${name}.test.mjs`);
    writeFileSync(file, `import { after, before, test } from "node:test";\n${text}`);
    return relative(process.cwd(), file);
  };
  const hooked = (name: string): string =>
    write(
      name,
      `before(() => console.log("before-${name}"));\nafter(() => console.log("after-${name}"));\ntest("${name}", () => undefined);\n`,
    );
  const run = async (files: string[]): Promise<JobReport & { said: string[] }> => {
    let output = "";
    const jobs = [{ engine: "sqlite", files, isInTurn: true }];
    const report = await runJobs(jobs, { atOnce: 1, jobMsMax: 60_000, repeatedMax: 0, write: (text) => void (output += text) });
    return { ...report, said: [...output.matchAll(/^(?:before|after)-\w+$/gm)].map(String) };
  };
  const [one, two] = [hooked("one"), hooked("two")];
  const { tests, passed, failed, said } = await run([one, two]);
  assert.deepEqual(
    { tests, passed, failed, said },
    { tests: 2, passed: 2, failed: [], said: ["before-one", "after-one", "before-two", "after-two"] },
  );
  const wrong = {
    before: `before(() => { throw new Error("before"); });\ntest("wrong", () => undefined);\n`,
    after: `after(() => { throw new Error("after"); });\ntest("wrong", () => undefined);\n`,
    load: `throw new Error("load");\n`,
    waiting: `await null;\ntest("wrong", () => undefined);\n`,
  };
  const files = Object.entries(wrong).map(([name, text]) => write(name, text));
  assert.deepEqual([...new Set((await run([one, ...files, two])).failed)].toSorted(), files.toSorted());
});

test("a job that takes too long is ended, says so and has failed", async (t) => {
  const file = join(temporaryFolder(t), "waits.test.mjs");
  writeFileSync(file, `import { test } from "node:test";\ntest("waits", () => new Promise(() => setInterval(() => undefined, 1_000)));\n`);
  let output = "";
  const jobs = [{ engine: "sqlite", files: [file] }];
  const { failed } = await runJobs(jobs, { atOnce: 1, jobMsMax: 1_500, repeatedMax: 0, write: (text) => void (output += text) });
  assert.deepEqual(failed, [file]);
  assert.match(output, /^This took longer than 0\.025 minutes and was ended\.$/m);
});

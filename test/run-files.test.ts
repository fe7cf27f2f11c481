import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./support/folder.ts";

const runner = fileURLToPath(new URL("run-files.ts", import.meta.url));

async function runFiles(aProcess: number, repeatedMax: number, ...files: string[]): Promise<[code: number | null, output: string]> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // as a run of its own, and not as part of this test
  const child = spawn(process.execPath, [runner, "2", String(aProcess), "60000", String(repeatedMax), ...files], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(child, "close") as Promise<[number | null]>;
  const [[code], out] = await Promise.all([closed, text(child.stdout)]);
  return [code, out];
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
  for (const [name, cause] of Object.entries(causes)) {
    const file = join(folder, `${name}.test.mjs`);
    writeFileSync(file, `import { test } from "node:test";\ntest("${name}", async () => { ${turn} ${cause} });\n`);
    const [code, out] = await runFiles(1, 0, file);
    assert.equal(code, 1, name);
    assert.match(out, /nothing catches this/, name);
  }
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
  for (const aProcess of [1, 2]) {
    const run = async (repeatedMax: number, ...files: string[]): Promise<[code: number | null, repeated: string | undefined]> => {
      const [code, out] = await runFiles(aProcess, repeatedMax, ...files);
      return [code, /^FAILED ONCE, and now repeated alone: .*?([\w-]+)\.test\.mjs$/m.exec(out)?.[1]];
    };
    assert.deepEqual(await run(1, passing), [0, undefined]);
    assert.deepEqual(await run(0, first(`strict-${aProcess}`), passing), [1, undefined]);
    assert.deepEqual(await run(1, first(`once-${aProcess}`), passing), [0, `once-${aProcess}`]);
    assert.deepEqual(await run(1, always, passing), [1, "always"]);
    const both = [first(`one-${aProcess}`), first(`another-${aProcess}`)];
    assert.deepEqual(await run(1, ...both), [1, undefined], "more than may be repeated");
  }
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { on, once } from "node:events";
import { stripTypeScriptTypes } from "node:module";
import { createInterface } from "node:readline";

/** Runs each line of its input as a module, one after another, and ends what the module prints with a line. */
const program = `
import { createInterface } from "node:readline";
let count = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { source, env } = JSON.parse(line);
  Object.assign(process.env, env);
  await import("data:text/javascript," + encodeURIComponent(source + "\\n// " + count++));
  console.log("\\0");
}`;

/** A process that runs samples of TypeScript. A sample is a module of its own there; starting a process for each takes far longer. */
export type SampleRunner = {
  /** Runs a sample with these variables, after those before it, and returns what it printed. */
  run(source: string, env: Record<string, string>): Promise<string>;
  /** Fails if a sample wrote to stderr, or keeps the process from ending. */
  close(): Promise<void>;
};

export function openSampleRunner(folder: string): SampleRunner {
  const args = ["--input-type=module", "-e", program];
  const env = { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
  const child = spawn(process.execPath, args, { env, cwd: folder, stdio: "pipe" });
  let err = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const lines = on(createInterface({ input: child.stdout }), "line", { close: ["close"] });
  let last: Promise<unknown> = Promise.resolve();

  async function runNow(source: string, variables: Record<string, string>): Promise<string> {
    child.stdin.write(`${JSON.stringify({ source: stripTypeScriptTypes(source), env: variables })}\n`);
    const printed: string[] = [];
    for (;;) {
      const next = (await lines.next()) as IteratorResult<[string], undefined>;
      assert.ok(!next.done, `the sample ended the process: ${err}`);
      const [line] = next.value;
      if (line === "\0") break;
      printed.push(line);
    }
    assert.equal(err, "");
    return printed.join("\n");
  }

  return {
    run: (source, variables) => {
      const result = last.then(() => runNow(source, variables));
      last = result.catch(() => undefined);
      return result;
    },
    async close() {
      const ended = once(child, "close");
      child.stdin.end();
      assert.deepEqual([err, (await ended)[0]], ["", 0]);
    },
  };
}

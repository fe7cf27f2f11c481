import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { inherited } from "./process.ts";

const commands = new URL("./commands.ts", import.meta.url).href;
const ports = { PORT: "0", EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0" };

/**
 * Runs `petstore serve` with each of these environments, one start after the other in one process, because each must fail. Returns the one
 * line that each said. Fails if one starts, logs anything, or leaves something open that keeps the process from ending.
 *
 * @param mayLog whether a start may log what it finds before it fails. Default: false
 */
export async function refusedStarts(environments: Record<string, string>[], { mayLog = false } = {}): Promise<string[]> {
  const script = `
    import { runCommand } from ${JSON.stringify(commands)};
    const ended = [];
    for (const env of ${JSON.stringify(environments.map((env) => ({ ...ports, ...env })))}) ended.push(await runCommand(["serve"], env));
    console.error(JSON.stringify(ended));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { env: inherited(), stdio: ["ignore", "pipe", "pipe"] });
  const closed = once(child, "close") as Promise<[number | null]>;
  const [[code], logged, said] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  assert.equal(code, 0, said);
  if (!mayLog) assert.equal(logged, "", said);
  return (JSON.parse(said) as { code: number; out: string; error: string }[]).map((ended) => {
    assert.deepEqual([ended.code, ended.out], [1, ""], ended.error);
    assert.match(ended.error, /^petstore: [^\n]+\n$/, "one line");
    return ended.error;
  });
}

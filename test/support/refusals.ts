import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Ended } from "./commands.ts";
import { inherited } from "./process.ts";

const commands = new URL("./commands.ts", import.meta.url).href;
const ports = { PORT: "0", EDGE_HTTP_PORT: "0", EDGE_HTTPS_PORT: "0" };

/** The words of a command, and its settings. */
export type Refused = { words: string[]; env: Record<string, string> };

type Options = {
  /** A command that runs another, as another user. Default: none */
  under?: string[];
  /** Whether a command may log what it finds before it fails. Default: false */
  mayLog?: boolean;
};

/**
 * Runs these commands of `petstore`, one after the other in one process, because each must fail. Returns the one line that each said. Fails
 * if one succeeds, logs anything, or leaves something open that keeps the process from ending.
 */
export async function refusals(refused: Refused[], { under = [], mayLog = false }: Options = {}): Promise<string[]> {
  const script = `
    import { runCommand } from ${JSON.stringify(commands)};
    const ended = [];
    for (const { words, env } of ${JSON.stringify(refused)}) ended.push(await runCommand(words, { ...${JSON.stringify(ports)}, ...env }));
    console.error(JSON.stringify(ended));`;
  const [program, ...args] = [...under, process.execPath, "--input-type=module", "-e", script];
  const child = spawn(program, args, { env: inherited(), stdio: ["ignore", "pipe", "pipe"] });
  const closed = once(child, "close") as Promise<[number | null]>;
  const [[code], logged, said] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  assert.equal(code, 0, said);
  if (!mayLog) assert.equal(logged, "", said);
  return (JSON.parse(said) as Ended[]).map((ended) => {
    assert.deepEqual([ended.code, ended.out], [1, ""], ended.error);
    assert.match(ended.error, /^petstore: [^\n]+\n$/, "one line");
    return ended.error;
  });
}

/** The same of `petstore serve` with each of these environments. */
export function refusedStarts(environments: Record<string, string>[], options?: Options): Promise<string[]> {
  return refusals(
    environments.map((env) => ({ words: ["serve"], env })),
    options,
  );
}

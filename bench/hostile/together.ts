import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openSender } from "./connection.ts";
import type { HostileRequest } from "./requests.ts";
import type { Scene } from "./scene.ts";
import { holdSessions } from "./sessions.ts";

const roundMs = 10_000;

/** Returns the longest wait (ms, see `probe.ts`) for `/healthz` while each queue is sent repeatedly, and sessions open and close. */
export async function longestWait(scene: Scene, queues: readonly (readonly HostileRequest[])[]): Promise<number> {
  const probe = await openProbe(scene);
  const end = performance.now() + roundMs;
  const isOver = (): boolean => performance.now() >= end;
  await Promise.all([...queues.map((queue) => sendOver(scene, queue, isOver)), openAndClose(scene, isOver)]);
  return probe.end();
}

/** Begins to measure; `end` returns the longest wait (ms) since then. */
export async function openProbe({ origin, shop }: Scene): Promise<{ end(): Promise<number> }> {
  const probe = spawn(process.execPath, [join(import.meta.dirname, "probe.ts"), origin, String(shop.pid)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(probe.stdout)[Symbol.asyncIterator]();
  await lines.next();
  return {
    async end() {
      probe.stdin.end();
      return Number((await lines.next()).value);
    },
  };
}

async function sendOver({ api, edge }: Scene, queue: readonly HostileRequest[], isOver: () => boolean): Promise<void> {
  const senders = { api: openSender(api), edge: openSender(edge) };
  for (let i = 0; !isOver(); i++) {
    const request = queue[i % queue.length]!;
    await senders[request.target.listener].send(request);
  }
  for (const sender of Object.values(senders)) sender.close();
}

async function openAndClose({ edge }: Scene, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const sessions = await holdSessions(edge);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    for (const session of sessions) session.destroy();
  }
}

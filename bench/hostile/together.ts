import { openSender } from "./connection.ts";
import { openProbe } from "./probing.ts";
import type { HostileRequest } from "./requests.ts";
import type { Scene } from "./scene.ts";
import { holdSessions } from "./sessions.ts";

const roundMs = 10_000;

/** Returns the longest wait (ms, see `probe.ts`) for `/healthz` while each queue is sent repeatedly, and sessions open and close. */
export async function longestWait(scene: Scene, queues: readonly (readonly HostileRequest[])[]): Promise<number> {
  const probe = await openProbe(scene.origin, scene.shop.pid);
  const end = performance.now() + roundMs;
  const isOver = (): boolean => performance.now() >= end;
  await Promise.all([...queues.map((queue) => sendOver(scene, queue, isOver)), openAndClose(scene, isOver)]);
  return probe.end();
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

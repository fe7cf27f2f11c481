import { setTimeout as sleep } from "node:timers/promises";
import { until } from "./until.ts";

const pollMs = 100;
const answerMs = 2_000;

/** What a load balancer does: sends requests to the nodes whose /readyz is 200, in turns. */
export type Balancer = {
  /** Resolves when the node gets requests. */
  add(address: string): Promise<void>;
  /** Takes a node out before it is stopped, as for nodes that do not drain. Resolves when it has answered what it was sent. */
  remove(address: string): Promise<void>;
  /** Resolves when /readyz has taken the node out. */
  left(address: string): Promise<void>;
  /** Sends a request to the next node; retries it at another one only if the connection was refused. */
  send(path: string, init: RequestInit): Promise<{ status: number; body: string; from: string }>;
  /** How many requests each node has answered. */
  answered: Map<string, number>;
  close(): Promise<void>;
};

export function openBalancer(): Balancer {
  const nodes = new Map<string, { isReady: boolean; inFlight: number }>();
  const answered = new Map<string, number>();
  const state = { isOpen: true };
  let turn = 0;

  async function poll(): Promise<void> {
    for (; state.isOpen; await sleep(pollMs)) {
      await Promise.all(
        [...nodes].map(async ([address, node]) => {
          const reply = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(answerMs) }).catch(() => undefined);
          node.isReady = reply?.status === 200;
          await reply?.body?.cancel();
        }),
      );
    }
  }
  const polling = poll();

  async function send(path: string, init: RequestInit): Promise<{ status: number; body: string; from: string }> {
    for (let attempt = 1; ; attempt++) {
      const ready = [...nodes].filter(([, { isReady }]) => isReady);
      const [address, node] = ready[turn++ % ready.length] ?? [];
      if (address === undefined || node === undefined) throw new Error("no node is ready");
      node.inFlight += 1;
      try {
        const reply = await fetch(`${address}${path}`, { ...init, signal: AbortSignal.timeout(30_000) });
        const body = await reply.text();
        answered.set(address, (answered.get(address) ?? 0) + 1);
        return { status: reply.status, body, from: address };
      } catch (error) {
        const { code } = ((error as Error).cause ?? {}) as { code?: string };
        if (code !== "ECONNREFUSED" || attempt === 5) throw error;
      } finally {
        node.inFlight -= 1;
      }
    }
  }

  return {
    answered,
    send,
    async add(address) {
      nodes.set(address, { isReady: false, inFlight: 0 });
      await until(() => nodes.get(address)?.isReady === true);
    },
    async remove(address) {
      const node = nodes.get(address);
      nodes.delete(address);
      await until(() => node?.inFlight === 0);
    },
    left: (address) => until(() => nodes.get(address)?.isReady !== true),
    async close() {
      state.isOpen = false;
      await polling;
    },
  };
}

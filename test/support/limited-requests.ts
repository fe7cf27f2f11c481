import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { ServiceOptions } from "../../src/app/service.ts";
import { startService, type Reply, type TestService } from "./service.ts";

export const noon = Date.UTC(2026, 5, 15, 12);

export type Account = {
  plan: string;
  minute: { limit: number; used: number; remaining: number };
  day: { limit: number; used: number };
  key: { id: number; strikes: number; strikesRemaining: number };
  bans: { keyId: number; until: string }[];
};

export async function openScene(t: TestContext, env: Record<string, string> = {}, redis?: ServiceOptions["redis"]) {
  const time = { now: noon };
  const service = await startService({ clock: () => time.now, env, redis });
  t.after(() => service.close());
  return { time, service };
}

export const list = (service: TestService, key: string) => service.ask("GET", "/categories", { key });
export const remaining = (reply: Reply) => Number(reply.headers.get("x-ratelimit-remaining"));
export const codeOf = (reply: Reply) => (reply.body as { code?: string }).code;

/** Sends requests in sequence until a response has this code, and returns that response. */
export async function askUntil(service: TestService, key: string, code: string): Promise<Reply> {
  for (let i = 0; i < 1_000; i++) {
    const reply = await list(service, key);
    if (codeOf(reply) === code) return reply;
  }
  return assert.fail(`1,000 requests brought no ${code}`);
}

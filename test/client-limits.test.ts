import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { openClient, type PetStore } from "../client/client.ts";
import { ask, startService } from "./support/service.ts";

const minuteMs = 60_000;
const minutes = 3;
const clients = 10;
const callsAtOnce = 5;
const requestsMax = 1_000;

type Seen = { status: number; at: number; code: string | undefined };

/** A clock that stands still while a request is in flight, and jumps to the end of the next wait when nothing else is left to do. */
function newTime(start: number) {
  let time = start;
  let underWay = 0;
  const waits = new Set<{ until: number; done: () => void }>();
  const seen: Seen[] = [];

  const wait = (ms: number) => new Promise<void>((done) => void waits.add({ until: time + ms, done }));

  async function send(request: Request): Promise<Response> {
    // Also ends a client that never waits.
    assert.ok(seen.length < requestsMax, `over ${requestsMax} requests`);
    underWay += 1;
    const response = await fetch(request);
    const body = await response.text();
    const { code } = (response.ok ? {} : JSON.parse(body)) as { code?: string };
    seen.push({ status: response.status, at: time, code });
    underWay -= 1;
    return new Response(body, response);
  }

  async function runUntil(end: number): Promise<void> {
    while (time < end) {
      for (let quiet = 0; quiet < 5; quiet += 1) {
        await turn();
        if (underWay > 0) quiet = 0;
      }
      time = Math.min(end, ...Array.from(waits, ({ until }) => until));
      if (time === end) return;
      for (const due of waits) if (due.until <= time && waits.delete(due)) due.done();
    }
  }

  return { now: () => time, wait, send, seen, runUntil };
}

/** Calls without a pause until it is stopped. */
async function callOnAndOn(client: PetStore, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await client.GET("/categories", { signal }).catch(() => signal.aborted || assert.fail());
}

test("ten clients at once, each knowing nothing of the others, use all of a Free account's quota and are never banned", async (t) => {
  const start = Date.UTC(2030, 0, 1, 12);
  const time = newTime(start);
  const service = await startService({ clock: time.now });
  t.after(() => service.close());
  const { key } = await service.newAccount("free");

  const stop = new AbortController();
  const calls = Array.from({ length: clients }, () => {
    const client = openClient({ url: service.address, key, fetch: time.send, now: time.now, wait: time.wait });
    return Array.from({ length: callsAtOnce }, () => callOnAndOn(client, stop.signal));
  });
  await time.runUntil(start + minutes * minuteMs);
  stop.abort();
  await Promise.all(calls.flat());

  const counted = (status: number) => {
    const byMinute = Array.from({ length: minutes }, () => 0);
    for (const one of time.seen) if (one.status === status) byMinute[Math.floor((one.at - start) / minuteMs)]! += 1;
    return byMinute;
  };
  assert.deepEqual(counted(200), [60, 60, 60]);
  assert.deepEqual(
    time.seen.filter(({ status, code }) => status !== 200 && code !== "rate_limit_exceeded"),
    [],
  );
  // A client finds out that the others have used the limit up by one request each, and then waits.
  for (const refused of counted(429)) assert.ok(refused < clients, `${refused} requests were refused in one minute`);
  const account = await ask<{ bans: unknown[] }>(`${service.address}/v1/account`, "GET", { key });
  assert.deepEqual([account.status, account.body.bans], [200, []]);
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBrowser } from "./dashboard.ts";
import { read } from "./edge.ts";
import { temporaryFolder } from "./folder.ts";
import type { Ending } from "./process.ts";
import type { TestService } from "./service.ts";

const archive = fileURLToPath(new URL("../fixtures/release-1.0.0.tar.gz", import.meta.url));

/** What release 1.0.0 answered, when it had filled the data folder that the fixture holds. */
export type Release = {
  dataDir: string;
  /** The settings that its answers depend on. */
  env: Record<string, string>;
  /** When it was filled (ms): counters and bans depend on it. */
  now: number;
  account: number;
  key: string;
  publishable: string;
  /** A POST of an order that was sent with this Idempotency-Key, and its answer. */
  idempotent: { key: string; sent: object; status: number; body: object };
  email: string;
  password: string;
  /** A domain with a certificate, and the page that it served. */
  hostname: string;
  page: string;
  /** A banned key, and another one of its account. */
  banned: string;
  second: string;
  /** A key after 7 requests, and the rate limit headers of the last one. */
  counted: { key: string; headers: Record<string, string> };
  /** Answers to GET, by path below `/v1`. */
  answers: Record<string, { status: number; etag: string | null; body: object }>;
};

/** Unpacks a data folder that release 1.0.0 (commit a74acbf) has filled and closed: accounts, orders, a ban, counters, a published project. */
export function unpackRelease(t: Ending): Release {
  const folder = temporaryFolder(t);
  execFileSync("tar", ["-xzf", archive, "-C", folder, "--no-same-owner"]);
  const expected = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")) as Omit<Release, "dataDir" | "env">;
  const env = { PLATFORM_DOMAIN: "sites.test", EDGE_PUBLIC_HTTP_PORT: "27642" };
  return { ...expected, env, dataDir: join(folder, "data") };
}

/**
 * Fails unless a service, whose clock is 5 s later, answers as 1.0.0 did: data and ETags, keys, the ban, counters, idempotency, sign-in, site.
 *
 * @param times how often this was called for the same data, because each call counts
 */
export async function requireServed(service: TestService, release: Release, times: number): Promise<void> {
  const { key } = release;
  for (const [path, { status, etag, body }] of Object.entries(release.answers)) {
    const answer = await service.ask<object>("GET", path, { key });
    assert.equal(answer.status, status, path);
    assert.partialDeepStrictEqual(answer.body, body, path);
    // The ETag of a project begins with its version, and goes on with a hash of its names since 1.1.0.
    assert.equal(answer.headers.get("etag")?.replace(/-[^"]*/, "") ?? null, etag, path);
  }
  const { idempotent } = release;
  const headers = { "idempotency-key": idempotent.key };
  const replay = await service.ask("POST", "/store/orders", { key, body: idempotent.sent, headers });
  assert.deepEqual([replay.status, replay.body], [idempotent.status, idempotent.body]);

  const banned = await service.ask<{ code: string }>("GET", "/pets", { key: release.banned });
  assert.deepEqual([banned.status, banned.body.code, banned.headers.get("retry-after")], [429, "key_banned", "295"]);
  assert.equal((await service.ask("GET", "/account", { key: release.second })).status, 429, "its account's window is still used up");
  const counted = await service.ask("GET", "/pets", { key: release.counted.key });
  const remaining = Number(release.counted.headers["x-ratelimit-remaining"]) - times;
  assert.equal(counted.headers.get("x-ratelimit-remaining"), String(remaining));
  assert.equal((await service.ask("GET", "/pets", { key: release.publishable })).status, 200);

  const signedIn = await openBrowser(service).ask("POST", "/sign-in", { email: release.email, password: release.password });
  assert.equal(signedIn.status, 200, JSON.stringify(signedIn.body));
  const { port } = service.publishing.addresses()!.https!;
  const host = release.hostname;
  const page = await read(request({ host: "127.0.0.1", port, servername: host, headers: { host }, rejectUnauthorized: false }));
  assert.deepEqual([page.status, page.body], [200, release.page]);
}

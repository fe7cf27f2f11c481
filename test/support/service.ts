import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { pino } from "pino";
import sql from "sql-template-tag";
import { openService, type Service, type ServiceOptions } from "../../src/app/service.ts";
import { loadSettings } from "../../src/app/settings.ts";
import { systemClock, type Clock } from "../../src/platform/clock.ts";
import { newSecretsKey } from "../../src/platform/secrets.ts";
import { requireDescribed } from "./described-answers.ts";
import { leastHashCost } from "./hash-cost.ts";
import { newDatabase } from "./postgres.ts";
import { requireNamedAccounts } from "./sharding.ts";
import { copyMigratedFile } from "./sqlite-template.ts";

/** What came back: `body` is parsed where it is JSON. */
export type Reply<T = unknown> = { status: number; headers: Headers; body: T };

/** The statuses of answers to what was asked at once, lowest first. */
export const statusesOf = (replies: { status: number }[]): number[] => replies.map(({ status }) => status).toSorted((a, b) => a - b);

export type Asked = { body?: unknown; headers?: Record<string, string>; key?: string };

export type TestService = Service & {
  /** A key of all scopes whose account has limits that no test reaches. */
  key: string;
  accountId: number;
  /** Sends a request below `/v1`; a body that is no string is sent as JSON. Fails if the answer is not as the description says. */
  ask<T = unknown>(method: string, path: string, asked?: Asked): Promise<Reply<T>>;
  /** Another account of its own, with a key of all scopes. */
  newAccount(
    plan?: string,
    figures?: { perMinute?: number; perDay?: number; records?: number; publishedBytes?: number; eventBytes?: number },
  ): Promise<{ id: number; key: string }>;
  dataDir: string;
};

/** Limits that no test reaches. */
export const unlimited = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };

/** The engine that the black-box suites run on. */
export const engine = process.env["PETSTORE_TEST_ENGINE"] ?? "sqlite";

/** Declares a test that does not depend on the engine, in a suite that runs on both: it runs on SQLite. */
export function testOnce(name: string, body: (t: TestContext) => Promise<void>): void {
  if (engine === "sqlite") void test(name, body);
}

/** What nodes of one PostgreSQL share. */
export const secretsKey = newSecretsKey();

/** Free ports, and no look-up that leaves this machine: nothing answers at the discard port. */
export const edgeOfItsOwn = {
  EDGE_HTTP_PORT: "0",
  EDGE_HTTPS_PORT: "0",
  EDGE_PUBLIC_HTTP_PORT: "0",
  EDGE_PUBLIC_HTTPS_PORT: "0",
  DNS_SERVERS: "127.0.0.1:9",
};

/**
 * Starts a service of its own in this process: real storage in a new folder (on PostgreSQL: in a database of that
 * folder's), a free port, an injected clock.
 */
export async function startService(
  options: {
    clock?: Clock;
    env?: Record<string, string>;
    /** Follows `clock` by default. */
    timer?: ServiceOptions["timer"];
    dataDir?: string;
    redis?: ServiceOptions["redis"];
    connections?: ServiceOptions["connections"];
    requests?: ServiceOptions["requests"];
    queues?: ServiceOptions["queues"];
    /** Hashes passwords at the service's own cost, for those that a service outside the tests has set. */
    usesOwnHashCost?: boolean;
  } = {},
): Promise<TestService> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "petstore-test-")));
  const database = engine === "postgres" ? await newDatabase(dataDir, { migrated: true }) : undefined;
  const shared = { DATABASE_URL: database?.url, ...((database ?? options.env?.["DATABASE_URL"]) && { SECRETS_KEY: secretsKey }) };
  if (database === undefined && !options.env?.["DATABASE_URL"]) copyMigratedFile(dataDir);
  const settings = loadSettings({ PORT: "0", DATA_DIR: dataDir, ...shared, ...edgeOfItsOwn, ...options.env });
  const service = await openService(settings, {
    clock: options.clock ?? systemClock,
    timer: options.timer ?? options.clock,
    log: pino({ level: "silent" }),
    redis: options.redis,
    connections: options.connections,
    requests: options.requests,
    queues: options.queues,
    hashCost: options.usesOwnHashCost ? undefined : leastHashCost,
  });
  await service.ready;
  const newAccount: TestService["newAccount"] = async (plan = "enterprise", figures = plan === "enterprise" ? unlimited : {}) => {
    const { account, key } = await service.administration["accounts.create"]({ name: "Test shop", plan, ...figures });
    await service.db.write((tx) =>
      tx.query(
        sql`UPDATE keys SET scopes = scopes || ' contacts:read contacts:write keys:read keys:write' WHERE account_id = ${account.id}`,
      ),
    );
    return { id: account.id, key };
  };
  const { id: accountId, key } = await newAccount();
  return {
    ...service,
    key,
    accountId,
    newAccount,
    dataDir,
    async ask<T>(method: string, path: string, asked?: Asked) {
      const reply = await ask<T>(`${service.address}/v1${path}`, method, { key, ...asked });
      if (isJson(reply.headers) && reply.body !== "") requireDescribed(method, path, reply.status, reply.body);
      return reply;
    },
    close: async () => {
      await service.close();
      if (settings.databaseUrl !== "") await requireNamedAccounts(settings.databaseUrl);
      if (options.dataDir === undefined) await database?.drop();
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A hanging service fails a test; a busy machine does not, whatever shares it. */
const answerMsMax = 240_000;

const agent = new Agent({ keepAlive: true });

/** Sends one request. An empty `key` sends none. Not with `fetch`, which takes twice the processor time. */
export async function ask<T = unknown>(url: string, method: string, { body, headers, key }: Asked = {}): Promise<Reply<T>> {
  const sent = request(url, {
    method,
    headers: {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    agent,
    signal: AbortSignal.timeout(answerMsMax),
  });
  sent.end(body === undefined || typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body));
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  let received = "";
  answer.setEncoding("utf8").on("data", (chunk: string) => (received += chunk));
  await once(answer, "end");
  const of = new Headers();
  for (const [name, values = []] of Object.entries(answer.headersDistinct)) for (const value of values) of.append(name, value);
  return { status: answer.statusCode!, headers: of, body: parsed(received, of) as T };
}

function parsed(body: string, headers: Headers): unknown {
  return isJson(headers) && body !== "" ? JSON.parse(body) : body;
}

function isJson(headers: Headers): boolean {
  return headers.get("content-type")?.includes("json") ?? false;
}

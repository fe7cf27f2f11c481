import { connect } from "node:net";
import { openStorage } from "../../src/app/storage.ts";
import { atMost, median, type Figure } from "../figures.ts";
import { createAccount, fillWithAnimals, makeFolder, openShop } from "../shop.ts";
import { animals, othersOf, type Others } from "./others.ts";
import { signInOwners } from "./owners.ts";

/** Events of the audit, with a text each, so that they have 50 MB together. */
const events = 71_000;
const textBytes = 400;
const eventsOfWrite = 1_000;
const exporters = 4;
const streams = 20;
const pauseMs = 100;
const rounds = 3;

/**
 * Measures what others see while one account exports its audit four times at once and reads its whole log in 20 streams: the 99th percentile of
 * another account's reads and orders, and the longest wait of `/healthz`.
 */
export async function* measureLongReads(): AsyncGenerator<Figure> {
  const folder = makeFolder();
  fillWithAnimals(folder, animals);
  const { account, key } = createAccount(folder.dataDir, {});
  const log = await makeLongLog(folder.dataDir, { accountId: account.id, key });
  const shop = await openShop(folder);
  try {
    const seen: { alone: number; others: Others }[] = [];
    for (let round = 0; round <= rounds; round++) {
      const alone = await othersOf(shop, async () => undefined);
      const others = await othersOf(shop, (isOver) => readLongLog(new URL(shop.url).origin, log, isOver));
      if (round > 0) seen.push({ alone: alone.reads, others });
    }
    const of = (figure: keyof Others): number[] => seen.map(({ others }) => others[figure]);
    const what = "while one account runs 4 exports and 20 streams over 50 MB of events";
    console.error(`p99 of reads without these: ${median(seen.map(({ alone }) => alone))} ms`);
    yield* [
      atMost("hostile-long-reads", `p99 of another account's reads ${what}`, of("reads"), 100, "ms"),
      atMost("hostile-long-reads-orders", `p99 of another account's orders ${what}`, of("orders"), 500, "ms"),
      atMost("hostile-long-reads-wait", `longest wait of \`/healthz\` ${what}`, of("healthz"), 100, "ms"),
    ];
  } finally {
    await shop.stop();
    folder.remove();
  }
}

/** An account with a long log, and owners who have signed in. */
type LongLog = { key: string; cookies: string[] };

/** Gives an account a log of 71,000 events (50 MB) and four owners. No service has the folder open. */
async function makeLongLog(dataDir: string, { accountId, key }: { accountId: number; key: string }): Promise<LongLog> {
  const storage = await openStorage({ dataDir, databaseUrl: "" }, "petstore bench", 2_000);
  const text = "x".repeat(textBytes);
  for (let first = 1; first <= events; first += eventsOfWrite)
    await storage.db.write(async (tx) => {
      for (let id = first; id < first + eventsOfWrite; id++)
        tx.record({ accountId, type: "webhook.updated", resource: { type: "webhook", id }, data: { id, text } });
    });
  const cookies = await signInOwners(storage.db, accountId, exporters);
  await storage.close();
  return { key, cookies };
}

/** Exports the audit as each owner, and reads the log from its beginning in 20 streams, repeatedly until it is over. */
async function readLongLog(origin: string, { key, cookies }: LongLog, isOver: () => boolean): Promise<void> {
  const repeat = async (path: string, header: string): Promise<void> => {
    while (!isOver()) {
      const status = await statusOf(origin, path, header, isOver);
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  await Promise.all([
    ...cookies.map((cookie) => repeat("/dashboard/v1/audit/export", `Cookie: ${cookie}`)),
    ...Array.from({ length: streams }, () => repeat("/v1/events/stream?after=0&wait=0", `Authorization: Bearer ${key}`)),
  ]);
}

/** Reads an answer to its end, on a connection of its own. */
function statusOf(origin: string, path: string, header: string, isOver: () => boolean): Promise<number> {
  const { port, hostname, host } = new URL(origin);
  return new Promise((resolve) => {
    let status = 0;
    const socket = connect({ port: Number(port), host: hostname });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${header}\r\nConnection: close\r\n\r\n`);
    socket.on("data", (chunk: Buffer) => {
      status ||= Number(chunk.toString("latin1", 9, 12));
      if (isOver()) socket.destroy();
    });
    socket.on("error", () => undefined).once("close", () => resolve(status));
  });
}

import { dayMs } from "./clock.ts";
import type { ShareLimits } from "./jobs/fair-share.ts";

/** Work that takes turns: whose, how many places there are, how much may wait and how long (ms). */
type Queue = Required<Pick<ShareLimits, "max" | "waitingMax" | "waitingMaxPerKey" | "waitMs">> &
  Pick<ShareLimits, "maxPerKey" | "reserved"> & {
    by: "account" | "site" | "site and address" | "address" | "member or address";
    /** The longest that one piece of work keeps its place (ms). The work enforces it. */
    turnMs: number;
    /** The message for work that gets no place. */
    busy: string;
  };

const again = "Try again in a moment.";

/** The queues: the first of the three classes of what callers share (`bounds.ts`). */
export const queues = {
  /**
   * Writes of the embedded database. Their bodies run one after another; the places are for those of one kind that run together. A body that takes
   * longer than its turn is rolled back if another caller's write waits.
   */
  writer: {
    by: "account",
    max: 256,
    maxPerKey: 256,
    waitingMax: 10_000,
    waitingMaxPerKey: 5_000,
    waitMs: 3_000,
    turnMs: 250,
    busy: `Too many changes wait to be written. ${again}`,
  },
  /**
   * Transactions on PostgreSQL, each on one of ten connections. The last two are for work of no caller. A body that takes longer than its turn is
   * rolled back if another caller's write waits.
   */
  connections_writes: {
    by: "account",
    max: 10,
    reserved: 2,
    waitingMax: 4_000,
    waitingMaxPerKey: 2_000,
    waitMs: 3_000,
    turnMs: 5_000,
    busy: `Too many changes wait to be written. ${again}`,
  },
  /** Reads on PostgreSQL: 32 on each of four connections, of which one is for work of no caller. The server ends a statement after its turn. */
  connections_reads: {
    by: "account",
    max: 128,
    reserved: 32,
    waitingMax: 2_000,
    waitingMaxPerKey: 1_000,
    waitMs: 3_000,
    turnMs: 5_000,
    busy: `Too many reads wait for the database. ${again}`,
  },
  /**
   * Pages of reads of many rows: exports, event streams that catch up, sitemaps, long lists. An embedded read keeps the event loop, so there
   * is one place. All streams and long polls of an account may wait at the same time, because one event wakes them all.
   */
  scans: {
    by: "account",
    max: 1,
    waitingMax: 10_000,
    waitingMaxPerKey: 200,
    waitMs: 3_000,
    turnMs: 10,
    busy: `Too many long reads run at once. ${again}`,
  },
  exports: {
    by: "account",
    max: 100,
    maxPerKey: 2,
    waitingMax: 0,
    waitingMaxPerKey: 0,
    waitMs: 3_000,
    turnMs: 600_000,
    busy: "Two exports of this account are running, or too many of all accounts. Try again when one of them has ended.",
  },
  /** Uploads wait as rows in the database, at most 20 of an account: one is claimed when it has a place here. */
  unpacking: {
    by: "account",
    max: 4,
    maxPerKey: 1,
    waitingMax: 0,
    waitingMaxPerKey: 0,
    waitMs: 3_000,
    turnMs: 300_000,
    busy: `Too many uploads are unpacked at once. ${again}`,
  },
  /** Files of uploads, on half of the threads that also read files. The size of a file bounds its turn. An upload has two here at once. */
  compressing: {
    by: "account",
    max: 2,
    maxPerKey: 2,
    waitingMax: 16,
    waitingMaxPerKey: 4,
    waitMs: 300_000,
    turnMs: 60_000,
    busy: `Too many files are compressed at once. ${again}`,
  },
  /** Claims of published files, which are not made while unused files are removed. */
  content_changes: {
    by: "account",
    max: 1,
    maxPerKey: 1,
    waitingMax: 1_000,
    waitingMaxPerKey: 100,
    waitMs: 60_000,
    turnMs: 10_000,
    busy: `Too many published files change at once. ${again}`,
  },
  /** Published files that a node fetches from the database. */
  content_fetches: {
    by: "site",
    max: 8,
    waitingMax: 1_000,
    waitingMaxPerKey: 500,
    waitMs: 30_000,
    turnMs: 30_000,
    busy: `Too many published files are fetched at once. ${again}`,
  },
  pictures: {
    by: "account",
    max: 1,
    waitingMax: 100,
    waitingMaxPerKey: 2,
    /** As long as a turn: however large the photos of one account are, those of the others are not refused. */
    waitMs: 60_000,
    /** Longer than the 5 s of CPU time that a picture may use: its process has a low priority, and waits for them on a busy machine. */
    turnMs: 60_000,
    busy: `Too many photos are processed at once. ${again}`,
  },
  /**
   * The pages of storefronts. The visitors of one site use at most half of the places, so that those of another find one. A visitor may have
   * as many waiting as an address may have connections: a refusal would only bring the next request sooner.
   */
  rendering: {
    by: "site and address",
    max: 4,
    waitingMax: 5_000,
    waitingMaxPerKey: 1_024,
    waitMs: 3_000,
    turnMs: 1_000,
    busy: `Too many pages are rendered at once. ${again}`,
  },
  /**
   * Forms of storefronts, and their pages: from the first byte of the body, which takes at most 10 s, to the answer. A place holds 16 KiB.
   */
  forms: {
    by: "site and address",
    max: 64,
    waitingMax: 1_000,
    waitingMaxPerKey: 16,
    waitMs: 3_000,
    turnMs: 30_000,
    busy: `Too many forms are sent at once. ${again}`,
  },
  /** Answers of the edge that begin in one turn of the event loop. Each takes well under 0.1 ms of it, so that a turn is over in a few ms. */
  visits: {
    by: "site and address",
    max: 64,
    waitingMax: 20_000,
    waitingMaxPerKey: 2_000,
    waitMs: 3_000,
    turnMs: 10,
    busy: `Too many requests arrive at once. ${again}`,
  },
  /** Large published files that are being sent. None waits: a visitor may take hours to read one. */
  open_files: {
    by: "site",
    max: 1_000,
    waitingMax: 0,
    waitingMaxPerKey: 0,
    waitMs: 1,
    turnMs: dayMs,
    busy: `Too many large files are being read. ${again}`,
  },
  dns: {
    by: "account",
    max: 64,
    maxPerKey: 48,
    waitingMax: 10_000,
    waitingMaxPerKey: 7_500,
    waitMs: 120_000,
    turnMs: 32_000,
    busy: `Too many names are looked up at once. ${again}`,
  },
  deliveries: {
    by: "account",
    max: 256,
    waitingMax: 40_000,
    waitingMaxPerKey: 1_000,
    waitMs: 60_000,
    turnMs: 10_000,
    busy: "Too many messages to webhook endpoints wait to be sent.",
  },
  /** Messages to endpoints whose last attempt failed, so that endpoints that hang cannot use up all places. */
  failing_deliveries: {
    by: "account",
    max: 128,
    waitingMax: 40_000,
    waitingMaxPerKey: 1_000,
    waitMs: 600_000,
    turnMs: 10_000,
    busy: "Too many messages to failing webhook endpoints wait to be sent.",
  },
  /** Requests of known callers, until they are answered. Event streams and long polls, which may last longer, have caps. */
  requests: {
    by: "account",
    max: 20_000,
    maxPerKey: 1_000,
    waitingMax: 20_000,
    waitingMaxPerKey: 1_000,
    waitMs: 1_000,
    turnMs: 600_000,
    busy: `This account has too many requests in progress. ${again}`,
  },
  /** Checks of domains. The rows are what waits: an account leases no more of them than its share of the places. */
  checks: {
    by: "account",
    max: 64,
    waitingMax: 64,
    waitingMaxPerKey: 64,
    waitMs: 120_000,
    turnMs: 300_000,
    busy: "Too many domains are checked at once.",
  },
  /** Orders of certificates. The rows are what waits, as for checks. */
  certificates: {
    by: "account",
    max: 16,
    waitingMax: 16,
    waitingMaxPerKey: 16,
    waitMs: 600_000,
    turnMs: 600_000,
    busy: "Too many certificates are ordered at once.",
  },
  /** Imports that are undone or end. The rows are what waits, as for checks; each step is a write of its own. */
  imports: {
    by: "account",
    max: 8,
    waitingMax: 8,
    waitingMaxPerKey: 8,
    waitMs: 600_000,
    turnMs: 600_000,
    busy: "Too many imports are undone at once.",
  },
  /** Downloads of photos that imports and agents name. For imports, rows of the database wait, not calls. */
  photo_fetches: {
    by: "account",
    max: 8,
    waitingMax: 8,
    waitingMaxPerKey: 8,
    waitMs: 600_000,
    turnMs: 120_000,
    busy: "Too many photos are fetched at once.",
  },
  /** TLS handshakes: one step in each turn of the event loop, so that many clients that connect at once fill no turn. */
  handshakes: {
    by: "address",
    max: 1,
    waitingMax: 20_000,
    waitingMaxPerKey: 2_048,
    waitMs: 10_000,
    turnMs: 10,
    busy: `Too many clients connect at once. ${again}`,
  },
  /** Hashes of passwords, each of which takes 19 MiB and a thread of the pool: those of a member who is signed in, or of an address that signs in. */
  passwords: {
    by: "member or address",
    max: 2,
    waitingMax: 400,
    waitingMaxPerKey: 100,
    waitMs: 10_000,
    turnMs: 1_000,
    busy: `Too many people are signing in. ${again}`,
  },
} as const satisfies Record<string, Queue>;
export type QueueName = keyof typeof queues;

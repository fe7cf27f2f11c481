import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { connect, isIP } from "node:net";
import type { DecodedPacket, OptAnswer, RecordType } from "dns-packet";
import { runInTurn, type FairShare } from "../../platform/jobs/fair-share.ts";

/** A CAA record as it is on the wire: `tag` and `value` in their original case (RFC 8659 section 4.1). */
export type CaaRecord = { flags: number; tag: string; value: string };

type Values = { A: string; AAAA: string; CNAME: string; NS: string; TXT: string; CAA: CaaRecord };
export type LookupType = keyof Values;

/**
 * The answer of DNS. `owner` is the name that holds the record: behind a CNAME, not the name that was looked up.
 * Names are in lower case without the final dot, addresses in their canonical form, the strings of one TXT record joined.
 * `none` is an answer (no such name, or no record of this type); `failed` is not, and says nothing about the name.
 */
export type Lookup<Value> =
  | { outcome: "records"; records: { owner: string; value: Value }[] }
  | { outcome: "none"; nameExists: boolean }
  | { outcome: "failed"; reason: FailureReason; server: string };

/** `busy`: too many look-ups were waiting. Otherwise the server's error by its name in RFC 6895, or why there was no answer. */
export type FailureReason = Silence | "busy" | (typeof refusals)[number];

/** `asker`: the account that owns the name. Look-ups of different accounts take turns. */
export type Dns = { lookUp<Type extends LookupType>(name: string, type: Type, asker?: number): Promise<Lookup<Values[Type]>> };

export type DnsSettings = { servers: string[]; timeoutMs?: number; tries?: number };

export type Nameserver = { host: string; port: number };

/** Why there is no readable answer. `unreachable`: the network or the server rejected the packet. */
type Silence = "timeout" | "unreachable" | "malformed";

/** Returns a `Dns` that makes all look-ups for one account. */
export function dnsFor(asker: number, dns: Dns): Dns {
  return { lookUp: (name, type) => dns.lookUp(name, type, asker) };
}

const serversMax = 4;
const ednsUdpBytesMax = 1232;
const headerBytes = 12;
const refusals = ["FORMERR", "SERVFAIL", "NOTIMP", "REFUSED", "unexpected answer"] as const;

/**
 * Looks up names through recursive servers: asks them in order, `tries` times over, until one answers; uses only the first four. One look-up ends
 * within tries × servers × 2 × `timeoutMs`. Those that get no turn fail as `busy`. If the servers of one account's names never answer, only that
 * account is delayed.
 *
 * Does not use the Resolver of node:dns: it reports neither the server that failed nor the owner of a record, and cannot read every CAA record.
 */
export function createDns({ servers, timeoutMs = 2000, tries = 2 }: DnsSettings, turns: FairShare<number>): Dns {
  const nameservers = servers.slice(0, serversMax).map((text) => ({ text, address: parseNameserver(text) }));
  if (nameservers.length === 0) throw new TypeError("there is no DNS server to ask");

  async function lookUpAnywhere<Type extends LookupType>(name: string, type: Type): Promise<Lookup<Values[Type]>> {
    const failures: Failure[] = [];
    for (let round = 0; round < tries; round++) {
      for (const server of nameservers) {
        // Later rounds go without EDNS, which some old servers and firewalls drop.
        const reply = await ask(server.address, { name, type }, { timeoutMs, edns: round === 0 });
        const found = read(name, type, reply);
        if (typeof found !== "string") return found;
        failures.push({ outcome: "failed", reason: found, server: server.text });
      }
    }
    return mostTelling(failures);
  }

  return {
    async lookUp(name, type, asker) {
      if (!canExist(name)) return { outcome: "none", nameExists: false };
      const look = () => lookUpAnywhere(name.toLowerCase(), type);
      return runInTurn(turns, asker, look, () => ({ outcome: "failed", reason: "busy", server: "" }));
    },
  };
}

type Failure = { outcome: "failed"; reason: FailureReason; server: string };

/** An error says more than silence: a dead first server does not hide the SERVFAIL of the second. */
function mostTelling(failures: Failure[]): Failure {
  return failures.find(({ reason }) => refusals.some((refusal) => refusal === reason)) ?? failures[0]!;
}

/** RFC 1035 section 2.3.4. The label of an ownership record can make a long name too long. */
const canExist = (name: string): boolean => name.length <= 253 && name.split(".").every((label) => label !== "" && label.length <= 63);

function read<Type extends LookupType>(name: string, type: Type, reply: DecodedPacket | Silence): Lookup<Values[Type]> | FailureReason {
  if (typeof reply === "string") return reply;
  const rcode = (reply.flags ?? 0) & 0x0f;
  if (rcode !== 0 && rcode !== 3) return refusalsByRcode.get(rcode) ?? "unexpected answer";
  const records = recordsOf(name, type, reply);
  return records.length > 0 ? { outcome: "records", records } : { outcome: "none", nameExists: rcode === 0 };
}

const refusalsByRcode = new Map<number, FailureReason>([
  [1, "FORMERR"],
  [2, "SERVFAIL"],
  [4, "NOTIMP"],
  [5, "REFUSED"],
]);

type Answer = NonNullable<DecodedPacket["answers"]>[number];

/** The records of this type at the name and along its CNAME chain; the rest of the answer is ignored. */
function recordsOf<Type extends LookupType>(name: string, type: Type, { answers = [] }: DecodedPacket) {
  const owners = type === "CNAME" ? new Set([name]) : chainFrom(name, answers);
  return answers.flatMap((answer) => {
    const owner = plainName(answer.name);
    const value = owners.has(owner) ? valueReaders[type](answer) : null;
    return value === null ? [] : [{ owner, value }];
  });
}

/** The name, and the names along its CNAME chain. Stops at a loop. */
function chainFrom(name: string, answers: Answer[]): Set<string> {
  const chain = new Set<string>();
  for (let next: string | null = name; next !== null && !chain.has(next);) {
    const owner: string = next;
    chain.add(owner);
    next =
      answers
        .filter((answer) => plainName(answer.name) === owner)
        .map(valueReaders.CNAME)
        .find((value) => value !== null) ?? null;
  }
  return chain;
}

const valueReaders: { [Type in LookupType]: (answer: Answer) => Values[Type] | null } = {
  A: (answer) => (answer.type === "A" ? answer.data : null),
  AAAA: (answer) => (answer.type === "AAAA" ? answer.data : null),
  CNAME: (answer) => (answer.type === "CNAME" ? plainName(answer.data) : null),
  NS: (answer) => (answer.type === "NS" ? plainName(answer.data) : null),
  TXT: (answer) => (answer.type === "TXT" ? [answer.data].flat().map(String).join("") : null),
  CAA: (answer) => (answer.type === "CAA" ? { flags: answer.data.flags ?? 0, tag: answer.data.tag, value: answer.data.value } : null),
};

const plainName = (name: string): string => name.toLowerCase().replace(/\.$/, "");

/** Reads `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1` and `[2001:db8::1]:5353`, as `dns.getServers()` writes them. @throws TypeError for anything else */
export function parseNameserver(text: string): Nameserver {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const server = isIP(text) === 6 ? { host: text, port: 53 } : { host: bracketed ?? plain ?? "", port: Number(port ?? 53) };
  const family = isIP(server.host);
  if (family === 0 || (bracketed !== undefined && family !== 6) || server.port < 1 || server.port > 65_535)
    throw new TypeError(`"${text}" is not the address of a DNS server`);
  return server;
}

/**
 * Asks one server one question: over UDP, and again over TCP if the answer is truncated (RFC 1035, RFC 7766).
 * `timeoutMs` is for each of the two. Ignores replies to other questions (RFC 5452 section 9.1).
 */
async function ask(
  server: Nameserver,
  question: { name: string; type: RecordType },
  { timeoutMs, edns }: { timeoutMs: number; edns: boolean },
): Promise<DecodedPacket | Silence> {
  const { decode, encode, RECURSION_DESIRED } = await import("dns-packet");
  const query = encode({
    type: "query",
    id: randomInt(0x10000),
    flags: RECURSION_DESIRED,
    questions: [{ ...question, class: "IN" }],
    additionals: edns ? [ednsOption] : [],
  });
  let reply = await askOverUdp(server, query, timeoutMs);
  if (typeof reply !== "string" && isTruncated(reply)) reply = await askOverTcp(server, query, timeoutMs);
  if (typeof reply === "string") return reply;
  try {
    const packet = decode(reply);
    // The decoder reads past the end of a truncated message.
    return decode.bytes > reply.length ? "malformed" : packet;
  } catch {
    return "malformed";
  }
}

const ednsOption: OptAnswer = {
  type: "OPT",
  name: ".",
  udpPayloadSize: ednsUdpBytesMax,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
};

/** Opens a new socket for each question, to get a new source port. Connects it, so that it receives from this server only. */
function askOverUdp(server: Nameserver, query: Buffer, timeoutMs: number): Promise<Buffer | Silence> {
  const { promise, resolve } = Promise.withResolvers<Buffer | Silence>();
  const socket = createSocket(isIP(server.host) === 6 ? "udp6" : "udp4");
  const timer = setTimeout(() => resolve("timeout"), timeoutMs);
  socket.on("error", () => resolve("unreachable"));
  socket.on("message", (message) => isReplyTo(query, message) && resolve(message));
  socket.on("connect", () => socket.send(query));
  socket.connect(server.port, server.host);
  return promise.finally(() => {
    clearTimeout(timer);
    socket.close();
  });
}

/** Asks over TCP. The two octets before the answer are its length, which bounds the read (RFC 1035 section 4.2.2). */
function askOverTcp(server: Nameserver, query: Buffer, timeoutMs: number): Promise<Buffer | Silence> {
  const { promise, resolve } = Promise.withResolvers<Buffer | Silence>();
  const socket = connect(server.port, server.host);
  const timer = setTimeout(() => resolve("timeout"), timeoutMs);
  let received: Buffer = Buffer.alloc(0);
  socket.on("connect", () => socket.write(Buffer.concat([lengthOf(query), query])));
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
    const message = received.subarray(2, 2 + received.readUInt16BE(0));
    resolve(isReplyTo(query, message) && !isTruncated(message) ? message : "malformed");
  });
  socket.on("error", () => resolve("unreachable"));
  socket.on("close", () => resolve("unreachable"));
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}

function lengthOf(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return length;
}

const isTruncated = (message: Buffer): boolean => (message[2]! & 0x02) !== 0;

/** Whether a message is a response with the same id and question. A server that refuses may omit the question. */
function isReplyTo(query: Buffer, message: Buffer): boolean {
  if (message.length < headerBytes || message.readUInt16BE(0) !== query.readUInt16BE(0) || (message[2]! & 0x80) === 0) return false;
  if (message.readUInt16BE(4) === 0) return (message[3]! & 0x0f) !== 0;
  const end = query.indexOf(0, headerBytes) + 5;
  return questionOf(message, end) === questionOf(query, end);
}

const questionOf = (message: Buffer, end: number): string => message.toString("latin1", headerBytes, end).toLowerCase();

import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { connect, isIP } from "node:net";
import type { DecodedPacket, OptAnswer, RecordType } from "dns-packet";

export type Nameserver = { host: string; port: number };

/** Why there is no readable answer. `unreachable`: the network or the server rejected the packet. */
export type Silence = "timeout" | "unreachable" | "malformed";

const ednsUdpBytesMax = 1232;
const headerBytes = 12;

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
export async function ask(
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

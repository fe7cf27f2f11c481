import { createSocket } from "node:dgram";
import { createServer, type Socket } from "node:net";
import { Packet } from "dns2";

export type RecordType = "A" | "AAAA" | "CNAME" | "TXT" | "CAA" | "NS" | "SOA";

/** How the server fails for a name. `truncation`: no answer fits into UDP, so the client has to ask again over TCP. `malformed`: a cut-off message. */
export type DnsFault = "servfail" | "refused" | "timeout" | "truncation" | "malformed";

export type CaaRecord = { flags: number; tag: string; value: string };

/** A, AAAA: an address. CNAME, NS: a name. TXT: a string, or its parts. CAA: an object, or text as in a zone file: `0 issue "ca.example"`. */
export type RecordValue = string | string[] | CaaRecord;

export type DnsServer = {
  port: number;
  /** `127.0.0.1:port`, UDP and TCP. */
  address: string;
  /** Replaces the records of this name and type. `*.example.com` is a wildcard (RFC 4592). */
  set(name: string, type: RecordType, values: RecordValue[]): void;
  /** Removes the records of one type, or all records, at this name only. */
  remove(name: string, type?: RecordType): void;
  /** From now on, look-ups of the name fail in this way: for these types, or for all. So do those of a CNAME chain that leads to the name. */
  fail(name: string, fault: DnsFault, types?: RecordType[]): void;
  /** Undoes `fail`. */
  heal(name: string): void;
  /** The last 10,000 questions, oldest first. */
  asked: { name: string; type: string; transport: "udp" | "tcp" }[];
  /** Forgets all records, faults and questions. */
  clear(): void;
  /** Lets the process end while the server listens. */
  unref(): void;
  close(): Promise<void>;
};

type Zone = Map<string, Map<RecordType, RecordValue[]>>;
type Faults = Map<string, { fault: DnsFault; types: RecordType[] | null }>;

const chainLengthMax = 8;
const askedMax = 10_000;
const udpBytesWithoutEdns = 512;
const rcodes = { servfail: Packet.RCODE.SERVFAIL, refused: Packet.RCODE.REFUSED };

/** An authoritative server for every name, in process, on a free loopback port; its records change at once. */
export async function startDnsServer(): Promise<DnsServer> {
  const zone: Zone = new Map();
  const faults: Faults = new Map();
  const asked: DnsServer["asked"] = [];

  function reply(message: Buffer, transport: "udp" | "tcp"): Buffer | null {
    const query = Packet.parse(message);
    const question = query.questions[0];
    if (question === undefined) return null;
    const type = Packet.typeName(question.type);
    if (asked.push({ name: key(question.name), type, transport }) > askedMax) asked.shift();
    const response = answer(zone, faults, query, question.name, type);
    const fault = response.fault;
    if (fault === "timeout") return null;
    if (fault === "malformed") return response.packet.toBuffer().subarray(0, -3);
    const udpBytesMax = query.additionals.find((record) => record.type === Packet.TYPE.EDNS)?.class ?? udpBytesWithoutEdns;
    const bytes = response.packet.toBuffer();
    if (transport === "tcp" || (fault !== "truncation" && bytes.length <= udpBytesMax)) return bytes;
    response.packet.answers = [];
    response.packet.authorities = [];
    response.packet.header.tc = 1;
    return response.packet.toBuffer();
  }

  const sockets = new Set<Socket>();
  const { udp, tcp, port } = await listen(reply, sockets);
  return {
    port,
    address: `127.0.0.1:${port}`,
    asked,
    set(name, type, values) {
      const records = zone.get(key(name)) ?? new Map<RecordType, RecordValue[]>();
      zone.set(key(name), records.set(type, values));
    },
    remove(name, type) {
      if (type !== undefined) zone.get(key(name))?.delete(type);
      if (type === undefined || zone.get(key(name))?.size === 0) zone.delete(key(name));
    },
    fail: (name, fault, types) => void faults.set(key(name), { fault, types: types ?? null }),
    heal: (name) => void faults.delete(key(name)),
    clear() {
      zone.clear();
      faults.clear();
      asked.length = 0;
    },
    unref() {
      udp.unref();
      tcp.unref();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all([new Promise<void>((done) => udp.close(done)), new Promise((done) => tcp.close(done))]);
    },
  };
}

const key = (name: string): string => name.toLowerCase().replace(/\.$/, "");

/** The answer with the CNAME chain followed, as a resolver gives it; the code is that of the chain's last name (RFC 6604). */
function answer(zone: Zone, faults: Faults, query: Packet, asked: string, type: string): { packet: Packet; fault: DnsFault | null } {
  const packet = Packet.createResponseFromRequest(query);
  packet.header.aa = 1;
  packet.header.ra = 1;
  packet.header.rcode = Packet.RCODE.NOERROR;
  let owner = asked;
  let fault: DnsFault | null = null;
  for (let step = 0; step < chainLengthMax; step++) {
    const planned = faults.get(key(owner));
    if (planned !== undefined && (planned.types === null || planned.types.some((one) => one === type))) fault = planned.fault;
    if (fault === "servfail" || fault === "refused") {
      packet.answers = [];
      packet.header.rcode = rcodes[fault];
      return { packet, fault };
    }
    const records = recordsAt(zone, key(owner));
    if (records === null) packet.header.rcode = Packet.RCODE.NXDOMAIN;
    const alias = type === "CNAME" ? undefined : records?.get("CNAME")?.[0];
    if (alias !== undefined) {
      packet.answers.push(resource(owner, "CNAME", alias));
      owner = text(alias);
      continue;
    }
    const values = [...(records ?? [])].find(([one]) => one === type);
    for (const value of values?.[1] ?? []) packet.answers.push(resource(owner, values![0], value));
    if (values === undefined) packet.authorities.push(resource(parent(key(owner)), "SOA", "ns.invalid"));
    return { packet, fault };
  }
  packet.answers = [];
  packet.header.rcode = Packet.RCODE.SERVFAIL;
  return { packet, fault };
}

/** The records at a name, by wildcard if there is no such name (RFC 4592); an empty map where only names below it exist; null: NXDOMAIN. */
function recordsAt(zone: Zone, name: string): Map<RecordType, RecordValue[]> | null {
  const exists = (one: string): boolean => zone.has(one) || [...zone.keys()].some((other) => other.endsWith(`.${one}`));
  if (exists(name)) return zone.get(name) ?? new Map();
  let encloser = parent(name);
  while (encloser !== "" && !exists(encloser)) encloser = parent(encloser);
  return zone.get(`*.${encloser}`) ?? null;
}

const parent = (name: string): string => name.split(".").slice(1).join(".");

function resource(name: string, type: RecordType, value: RecordValue): Packet["answers"][number] {
  const record = new Packet.Resource(name, Packet.TYPE[type], Packet.CLASS.IN, 1);
  return Object.assign(record, rdata(type, value));
}

function rdata(type: RecordType, value: RecordValue) {
  switch (type) {
    case "A":
    case "AAAA":
      return { address: text(value) };
    case "CNAME":
      return { domain: text(value) };
    case "NS":
      return { ns: text(value) };
    case "TXT":
      return { data: typeof value === "string" || Array.isArray(value) ? value : text(value) };
    case "SOA":
      return { primary: text(value), admin: "hostmaster.invalid", serial: 1, refresh: 3600, retry: 600, expiration: 86_400, minimum: 1 };
    case "CAA":
      return typeof value === "string" ? caaFromText(value) : value;
    default:
      throw new TypeError(`no such type: ${String(type)}`);
  }
}

function text(value: RecordValue): string {
  if (typeof value !== "string") throw new TypeError("this type of record takes a string");
  return value;
}

function caaFromText(line: string): CaaRecord {
  const [, flags, tag, value] = /^(\d+) (\S+) "(.*)"$/.exec(line) ?? [];
  if (flags === undefined || tag === undefined || value === undefined) throw new TypeError(`not a CAA record: ${line}`);
  return { flags: Number(flags), tag, value };
}

type Reply = (message: Buffer, transport: "udp" | "tcp") => Buffer | null;

/** Listens over TCP on a free port that the system chooses, then over UDP on the same port. Tries another port if that one is taken. */
async function listen(reply: Reply, sockets: Set<Socket>) {
  for (let attempt = 0; attempt < 20; attempt++) {
    const tcp = createServer((socket) => serve(socket, reply, sockets));
    await new Promise<void>((listening, failed) => tcp.once("error", failed).listen(0, "127.0.0.1", listening));
    const bound = tcp.address();
    const port = typeof bound === "object" && bound !== null ? bound.port : 0;
    const udp = createSocket("udp4");
    const free = await new Promise<boolean>((done) => udp.once("error", () => done(false)).bind(port, "127.0.0.1", () => done(true)));
    if (free) {
      udp.on("message", (message, client) => {
        const response = reply(message, "udp");
        if (response !== null) udp.send(response, client.port, client.address);
      });
      return { udp, tcp, port };
    }
    tcp.close();
  }
  throw new Error("no port was free for both UDP and TCP");
}

/** DNS over TCP: each message behind its length in two octets (RFC 1035 section 4.2.2). */
function serve(socket: Socket, reply: Reply, sockets: Set<Socket>): void {
  let received: Buffer = Buffer.alloc(0);
  sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy()));
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      const end = 2 + received.readUInt16BE(0);
      const response = reply(received.subarray(2, end), "tcp");
      received = received.subarray(end);
      if (response === null) continue;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(response.length);
      socket.write(Buffer.concat([length, response]));
    }
  });
}

import type { DecodedPacket } from "dns-packet";
import { runInTurn, type FairShare } from "../../platform/jobs/fair-share.ts";
import { ask, parseNameserver, type Silence } from "./dns-query.ts";

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

/** Returns a `Dns` that makes all look-ups for one account. */
export function dnsFor(asker: number, dns: Dns): Dns {
  return { lookUp: (name, type) => dns.lookUp(name, type, asker) };
}

const serversMax = 4;
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

import type { ProofRecord } from "../../platform/problem.ts";
import { isTypo } from "../../platform/typo.ts";
import type { CaaAuthority, CaaVerdict } from "./caa.ts";
import { relativeName, type Hostname, recordFor } from "./hostnames.ts";
import type { CaaRecord, FailureReason, LookupType } from "./lookup.ts";

export const dnsProblemCodes = [
  "record_missing",
  "conflicting_record",
  "wrong_target",
  "lookup_failed",
  "proof_missing",
  "caa_blocks",
] as const;
export type DnsProblemCode = (typeof dnsProblemCodes)[number];

/** What is wrong with the DNS of a name, in words that its owner can act on at the registrar. */
export type DnsProblem = { code: DnsProblemCode; message: string; expected: string; found: string; fix: string };

/** A name that is checked, and the host that its record must point to. */
export type CheckedName = Hostname & { platformDomain: string };

const failureWords: Partial<Record<FailureReason, string>> = {
  SERVFAIL:
    "ended with an error (SERVFAIL). The usual reason is a wrong DNSSEC setting: compare the DS record at your registrar with the one of your DNS provider, or remove it.",
  timeout: "got no answer in time. If this continues, ask your DNS provider whether its name servers can be reached.",
  REFUSED: "was refused. Check that your registrar lists the name servers of your DNS provider.",
};

const onlyOperator = "You cannot correct this: the operator of this service has to";

/** Whether only the operator can solve a problem. */
export const isForOperator = ({ fix }: Pick<DnsProblem, "fix">): boolean => fix.startsWith(onlyOperator);

/** The look-up of the `type` records at `at` failed, which says nothing about the name. */
export function lookupFailed(name: CheckedName, type: LookupType, at: string, reason: FailureReason): DnsProblem {
  if (isOfPlatform(at, name)) return platformLookupFailed(name, type, at, reason);
  return {
    code: "lookup_failed",
    message: `The look-up of the ${type} records of ${at} ${failureWords[reason] ?? "failed."}`,
    expected: "an answer from DNS",
    found: `${reason} for ${type} ${at}`,
    fix: "Your domain is as it was before. The check is repeated automatically.",
  };
}

function platformLookupFailed({ hostname }: CheckedName, type: LookupType, at: string, reason: FailureReason): DnsProblem {
  return {
    code: "lookup_failed",
    message: `The look-up of the ${type} records of ${at}, to which ${hostname} points, failed (${reason}).`,
    expected: "an answer from DNS",
    found: `${reason} for ${type} ${at}`,
    fix: `${onlyOperator} check the DNS of ${at}. Your domain is as it was before, and the check is repeated automatically.`,
  };
}

/** The platform's own name has no addresses with which to compare an apex's. */
export function platformUnresolvable({ hostname, platformDomain }: CheckedName): DnsProblem {
  return {
    code: "lookup_failed",
    message: `${platformDomain} has no addresses at present, so those of ${hostname} cannot be compared with them.`,
    expected: `addresses of ${platformDomain}`,
    found: "no record",
    fix: `${onlyOperator} set the addresses of ${platformDomain}. The check is repeated automatically.`,
  };
}

export function proofMissing(name: CheckedName, challenge: ProofRecord, found: string[]): DnsProblem {
  return {
    code: "proof_missing",
    message: `Another account has used a name of ${name.registrableDomain}. Create a TXT record to prove that it is yours.`,
    expected: `TXT ${challenge.name} ${challenge.value}`,
    found: found.length === 0 ? "no record" : foundList(found.map((value) => `TXT ${value}`)),
    fix: `Create a TXT record: name "${relativeName(challenge.name, name.registrableDomain)}", value "${challenge.value}".`,
  };
}

/** Whether a record's name is the platform's own, or above it, and neither the customer's nor a suffix that both share. */
function isOfPlatform(at: string, { platformDomain, registrableDomain }: CheckedName): boolean {
  const isAbove = platformDomain === at || platformDomain.endsWith(`.${at}`);
  const isCustomers = at === registrableDomain || at.endsWith(`.${registrableDomain}`) || registrableDomain.endsWith(`.${at}`);
  return isAbove && !isCustomers;
}

/** A CNAME leads to the platform's name, whose CAA records then count (RFC 8659 section 3). Only the operator can change them. */
function platformCaaBlocks({ hostname }: CheckedName, { at, records }: CaaVerdict & { outcome: "blocked" }): DnsProblem {
  return {
    code: "caa_blocks",
    message: `The CAA records of ${at}, to which ${hostname} points, do not allow this service's certificate authority.`,
    expected: "CAA records of this service that allow its certificate authority",
    found: foundList(records.map(caaText)),
    fix: `${onlyOperator} change the CAA records of ${at}. The check is repeated automatically.`,
  };
}

export function caaBlocks(name: CheckedName, verdict: CaaVerdict & { outcome: "blocked" }, { identities }: CaaAuthority): DnsProblem {
  const { at, records, reason } = verdict;
  if (isOfPlatform(at, name)) return platformCaaBlocks(name, verdict);
  const where = `"${relativeName(at, name.registrableDomain)}"`;
  const critical = reason === "critical_tag";
  const identity = identities[0];
  const authority = `this service's certificate authority${identity === undefined ? "" : `, ${identity}`}`;
  return {
    code: "caa_blocks",
    message: critical
      ? `A CAA record of ${at} is marked critical, but certificate authorities do not know its tag and refuse a certificate.`
      : reason === "restricted"
        ? `The CAA records of ${at} allow ${authority}, but only for another account or another validation method (accounturi, validationmethods).`
        : `The CAA records of ${at} do not allow ${authority}.`,
    expected:
      identity === undefined ? "no CAA record, or one for the certificate authority" : `CAA 0 issue "${identity}", or no CAA record`,
    found: foundList(records.map(caaText)),
    fix: critical
      ? `Delete the CAA record ${where} with the unknown tag, or set its flags to 0.`
      : identity === undefined
        ? `Ask the operator of this service for the name of its certificate authority (ACME_CAA_IDENTITIES), and allow it in the CAA records ${where}.`
        : `Add a CAA record: name ${where}, flags 0, tag issue, value "${identity}". The others can stay.`,
  };
}

const caaText = ({ flags, tag, value }: CaaRecord): string => `CAA ${flags} ${tag} "${value}"`;

const shownMax = 6;
const shownCharactersMax = 300;

/** Replaces control characters, which could change a reader's terminal. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, "\u{FFFD}");

/** Lists values from DNS, which strangers may have written: at most six, each shortened. */
function foundList(values: string[]): string {
  const shown = values
    .slice(0, shownMax)
    .map(printable)
    .map((value) => (value.length > shownCharactersMax ? `${value.slice(0, shownCharactersMax)}…` : value));
  return shown.join(", ") + (values.length > shownMax ? ` and ${values.length - shownMax} more` : "");
}

/** A record that was found, of a type that can be wrong. */
export type FoundRecord = { type: "A" | "AAAA" | "CNAME"; value: string };

/** Other facts in DNS that show the likely cause. */
export type DnsHints = {
  /** The records come from `*.parent`, not from the name itself. */
  fromWildcard: boolean;
  /** The right record is at www.example.com.example.com. */
  recordDoubled: boolean;
  /** The DNS provider that answers proxied records with its own addresses. */
  proxyingProvider: string | null;
};

export function recordMissing(name: CheckedName, { recordDoubled }: DnsHints): DnsProblem {
  const { hostname, registrableDomain } = name;
  if (recordDoubled)
    return recordProblem(name, "record_missing", {
      message: `${hostname} has no record: it was created as ${hostname}.${registrableDomain}, because your DNS provider adds ".${registrableDomain}" automatically.`,
      found: `CNAME ${name.platformDomain} at ${hostname}.${registrableDomain}`,
      fix: `Change the name of that record from "${hostname}" to "${recordFor(name, "").name}".`,
    });
  return recordProblem(name, "record_missing", {
    message: `${hostname} has no record that points here yet. A new record can take up to 48 hours to become visible.`,
    found: "no record",
    fix: create(name),
  });
}

export function wrongTarget(name: CheckedName, targets: string[], circumstances: DnsHints): DnsProblem {
  const target = targets.find((one) => one !== name.platformDomain) ?? "";
  const { reason, fix } = targetMistake(name, target, circumstances);
  return recordProblem(name, "wrong_target", {
    message: `${name.hostname} points to ${printable(target)}, not to ${name.platformDomain}.${reason === "" ? "" : ` ${reason}`}`,
    found: foundList(targets.map((one) => `CNAME ${one}`)),
    fix,
  });
}

/** Recognizes common mistakes; without one, the record simply belongs to another service. */
function targetMistake(name: CheckedName, target: string, { fromWildcard }: DnsHints): { reason: string; fix: string } {
  const { platformDomain, registrableDomain } = name;
  const label = recordFor(name, platformDomain).name;
  const change = `Change the value of the CNAME record "${label}" to "${platformDomain}`;
  if (fromWildcard) return { reason: wildcardReason(label), fix: besideWildcard(name, label) };
  if (name.kind === "apex") return { reason: "", fix: `Delete the CNAME record of "@". ${create(name)}` };
  if (target === `${platformDomain}.${registrableDomain}`)
    return {
      reason: `Your DNS provider added ".${registrableDomain}" to the value.`,
      fix: `${change}.", with a dot at its end so that nothing is added.`,
    };
  if (target.endsWith(`.${platformDomain}`))
    return { reason: "That is the address of one project. A domain has to point to the platform's own name.", fix: `${change}".` };
  return { reason: isTypo(target, platformDomain) ? "That looks like a typing error." : "", fix: `${change}".` };
}

const wildcardReason = (label: string): string => `A wildcard record (*), such as that of a parking page, answers for "${label}".`;

/** If a record of the name equals the wildcard's, DNS does not show whether it exists. */
const besideWildcard = (name: CheckedName, label: string): string =>
  `If "${label}" has separate records, delete them. ${create(name)} The wildcard can stay.`;

/** The name has addresses in place of its CNAME; `ours`: they are all the platform's. */
export function addressesInsteadOfCname(name: CheckedName, found: FoundRecord[], ours: boolean, circumstances: DnsHints): DnsProblem {
  const { proxyingProvider, fromWildcard } = circumstances;
  const label = recordFor(name, "").name;
  if (fromWildcard)
    return recordProblem(name, "conflicting_record", {
      message: `${name.hostname} does not point here. ${wildcardReason(label)}`,
      found: listRecords(found),
      fix: besideWildcard(name, label),
    });
  const unproxy =
    proxyingProvider === null
      ? `If you have created the CNAME record already, your DNS provider hides it behind its own addresses: turn off proxying and "flattening" for "${label}".`
      : `If you have created the CNAME record already, ${proxyingProvider} hides it behind its proxy: set "${label}" to "DNS only".`;
  return recordProblem(name, "conflicting_record", {
    message: ours
      ? `${name.hostname} points here by addresses, which may change, and not by a CNAME record.`
      : `${name.hostname} has ${typesOf(found)} records, and a CNAME record cannot exist next to them.`,
    found: listRecords(found),
    fix: `${deleteAll(found, label)} ${create(name)} ${unproxy}`,
  });
}

/** The server returns a CNAME and addresses at one name, against RFC 1034 section 3.6.2: chance decides which of them visitors get. */
export function addressesBesideCname(name: CheckedName, found: FoundRecord[]): DnsProblem {
  return recordProblem(name, "conflicting_record", {
    message: `${name.hostname} has the right CNAME record, but also ${typesOf(found)} records that point elsewhere.`,
    found: listRecords(found),
    fix: deleteAll(found, recordFor(name, "").name),
  });
}

/** The apex has addresses that are not the platform's (`foreign`). `rightBeside`: it has the platform's too. */
export function foreignAddresses(
  name: CheckedName,
  foreign: FoundRecord[],
  rightBeside: boolean,
  { proxyingProvider }: DnsHints,
): DnsProblem {
  const leftoverAaaa = rightBeside && foreign.every(({ type }) => type === "AAAA");
  const unproxy =
    proxyingProvider === null ? "" : ` If it is there already, ${proxyingProvider} hides it behind its proxy: set "@" to "DNS only".`;
  return recordProblem(name, "conflicting_record", {
    message: leftoverAaaa
      ? `${name.hostname} points here over IPv4, but an AAAA record left over from before sends visitors with IPv6, and the certificate authority, elsewhere.`
      : `${name.hostname} has ${typesOf(foreign)} records that point elsewhere.`,
    found: listRecords(foreign),
    fix: rightBeside ? deleteAll(foreign, "@") : `${deleteAll(foreign, "@")} ${create(name)}${unproxy}`,
  });
}

function recordProblem(name: CheckedName, code: DnsProblemCode, words: { message: string; found: string; fix: string }): DnsProblem {
  const { type } = recordFor(name, name.platformDomain);
  return { code, expected: `${type} ${name.platformDomain}`, ...words };
}

function create(name: CheckedName): string {
  const record = recordFor(name, name.platformDomain);
  const settings = `record: name "${record.name}", value "${record.value}", TTL ${record.ttl}.`;
  if (record.type === "CNAME") return `Create a CNAME ${settings}`;
  return `Create an ALIAS (or ANAME) ${settings} If your DNS provider has neither, add www.${name.hostname} instead.`;
}

function deleteAll(found: FoundRecord[], label: string): string {
  return found.length === 1
    ? `Delete the ${found[0]!.type} record ${found[0]!.value} of "${label}".`
    : `Delete the records ${listRecords(found)} of "${label}".`;
}

const typesOf = (found: FoundRecord[]): string => [...new Set(found.map(({ type }) => type))].join(" and ");
const listRecords = (found: FoundRecord[]): string => foundList(found.map(({ type, value }) => `${type} ${value}`));

import { foundList, printable, type DnsProblem, type DnsProblemCode, type CheckedName } from "./dns-problems.ts";
import { recordFor } from "./hostnames.ts";
import { isTypo } from "../../platform/typo.ts";

/** A record that was found, of a type that can be wrong. */
export type FoundRecord = { type: "A" | "AAAA" | "CNAME"; value: string };

/** Other facts in DNS that show the likely cause. */
export type Circumstances = {
  /** The records come from `*.parent`, not from the name itself. */
  fromWildcard: boolean;
  /** The right record is at www.example.com.example.com. */
  recordDoubled: boolean;
  /** The DNS provider that answers proxied records with its own addresses. */
  proxyingProvider: string | null;
};

export function recordMissing(name: CheckedName, { recordDoubled }: Circumstances): DnsProblem {
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

export function wrongTarget(name: CheckedName, targets: string[], circumstances: Circumstances): DnsProblem {
  const target = targets.find((one) => one !== name.platformDomain) ?? "";
  const { reason, fix } = targetMistake(name, target, circumstances);
  return recordProblem(name, "wrong_target", {
    message: `${name.hostname} points to ${printable(target)}, not to ${name.platformDomain}.${reason === "" ? "" : ` ${reason}`}`,
    found: foundList(targets.map((one) => `CNAME ${one}`)),
    fix,
  });
}

/** Recognizes common mistakes; without one, the record simply belongs to another service. */
function targetMistake(name: CheckedName, target: string, { fromWildcard }: Circumstances): { reason: string; fix: string } {
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
export function addressesInsteadOfCname(name: CheckedName, found: FoundRecord[], ours: boolean, circumstances: Circumstances): DnsProblem {
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
  { proxyingProvider }: Circumstances,
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

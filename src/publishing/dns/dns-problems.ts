import type { ProofRecord } from "../../platform/problem.ts";
import type { CaaAuthority, CaaVerdict } from "./caa.ts";
import { relativeName, type Hostname } from "./hostnames.ts";
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
export const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, "\u{FFFD}");

/** Lists values from DNS, which strangers may have written: at most six, each shortened. */
export function foundList(values: string[]): string {
  const shown = values
    .slice(0, shownMax)
    .map(printable)
    .map((value) => (value.length > shownCharactersMax ? `${value.slice(0, shownCharactersMax)}…` : value));
  return shown.join(", ") + (values.length > shownMax ? ` and ${values.length - shownMax} more` : "");
}

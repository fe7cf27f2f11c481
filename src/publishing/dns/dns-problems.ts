import type { ProofRecord } from "../../platform/problem.ts";
import type { CaaAuthority, CaaVerdict } from "./caa.ts";
import { relativeName, type Hostname } from "./hostnames.ts";
import type { CaaRecord, FailureReason, LookupType } from "./lookup.ts";

export type DnsProblemCode = "record_missing" | "conflicting_record" | "wrong_target" | "lookup_failed" | "proof_missing" | "caa_blocks";

/** What is wrong with a domain, in words that its owner can act on at the registrar. */
export type DnsProblem = { code: DnsProblemCode; message: string; expected: string; found: string; fix: string };

/** What the checks below speak of: the name, and the host that its record must lead to. */
export type CheckedName = Hostname & { platformDomain: string };

const failureWords: Partial<Record<FailureReason, string>> = {
  SERVFAIL:
    "ended with an error (SERVFAIL). A DNSSEC setting that no longer fits is the usual reason: compare the DS record at the registrar with your DNS provider's, or remove it.",
  timeout: "got no answer in time. If that stays, ask your DNS provider whether its name servers can be reached.",
  REFUSED: "was refused. Check that the registrar names the name servers of your DNS provider.",
};

/** Nothing is concluded from a look-up that failed. What was asked: `type` at `at`. */
export function lookupFailed(type: LookupType, at: string, reason: FailureReason): DnsProblem {
  return {
    code: "lookup_failed",
    message: `The look-up of the ${type} records of ${at} ${failureWords[reason] ?? "failed."}`,
    expected: "an answer from DNS",
    found: `${reason} for ${type} ${at}`,
    fix: "Nothing was changed because of it, and it is tried again by itself.",
  };
}

/** The platform's own name has no address, so that an apex has nothing to be compared with. */
export function platformUnresolvable({ hostname, platformDomain }: CheckedName): DnsProblem {
  return {
    code: "lookup_failed",
    message: `${platformDomain} has no addresses at present, so that ${hostname} cannot be compared with it.`,
    expected: `addresses of ${platformDomain}`,
    found: "no record",
    fix: `This is not yours to correct: the operator of this service has to give ${platformDomain} its addresses. It is tried again by itself.`,
  };
}

export function proofMissing(name: CheckedName, challenge: ProofRecord, found: string[]): DnsProblem {
  return {
    code: "proof_missing",
    message: `A name of ${name.registrableDomain} was in use by another account. A TXT record shows that it is yours.`,
    expected: `TXT ${challenge.name} ${challenge.value}`,
    found: found.length === 0 ? "no record" : foundList(found.map((value) => `TXT ${value}`)),
    fix: `Create a TXT record: name "${relativeName(challenge.name, name.registrableDomain)}", value "${challenge.value}".`,
  };
}

export function caaBlocks(name: CheckedName, verdict: CaaVerdict & { outcome: "blocked" }, { identities }: CaaAuthority): DnsProblem {
  const { at, records, reason } = verdict;
  const where = `"${relativeName(at, name.registrableDomain)}"`;
  const critical = reason === "critical_tag";
  const identity = identities[0];
  const authority = `this service's certificate authority${identity === undefined ? "" : `, ${identity}`}`;
  return {
    code: "caa_blocks",
    message: critical
      ? `A CAA record of ${at} is marked critical and not understood by certificate authorities, which therefore refuse a certificate.`
      : reason === "restricted"
        ? `The CAA records of ${at} allow ${authority}, only for another account or another way to prove a name (accounturi, validationmethods).`
        : `The CAA records of ${at} do not allow ${authority}.`,
    expected:
      identity === undefined ? "no CAA record, or one for the certificate authority" : `CAA 0 issue "${identity}", or no CAA record`,
    found: foundList(records.map(caaText)),
    fix: critical
      ? `Delete the CAA record ${where} with the unknown tag, or set its flags to 0.`
      : identity === undefined
        ? `Ask the operator of this service for the name of its certificate authority (ACME_CAA_IDENTITIES), and allow that in the CAA records ${where}.`
        : `Add a CAA record: name ${where}, flags 0, tag issue, value "${identity}". The others can stay.`,
  };
}

const caaText = ({ flags, tag, value }: CaaRecord): string => `CAA ${flags} ${tag} "${value}"`;

const shownMax = 6;
const shownCharactersMax = 300;

/** Without control characters, which could steer a terminal. */
export const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, "\u{FFFD}");

/** What strangers wrote into DNS is shown in part only. */
export function foundList(values: string[]): string {
  const shown = values
    .slice(0, shownMax)
    .map(printable)
    .map((value) => (value.length > shownCharactersMax ? `${value.slice(0, shownCharactersMax)}…` : value));
  return shown.join(", ") + (values.length > shownMax ? ` and ${values.length - shownMax} more` : "");
}

import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/db/database.ts";
import { sendProblem, sendText } from "../platform/http/answers.ts";
import { clientAddress, headerLines, type Exchange } from "../platform/http/exchange.ts";
import { limitHeaders } from "../callers/limits/headers.ts";
import { type Limiter, refusalOf } from "../callers/limits/limits.ts";
import { ownershipRecordOf, type Checks } from "../publishing/domains/checks.ts";
import type { StoredDomain } from "../publishing/domains/domain-rows.ts";
import { checkSoon, findByLink, isCheckLate } from "../publishing/domains/links.store.ts";
import { recordFor, relativeName } from "../publishing/dns/hostnames.ts";
import { dnsPage, dnsPageHeaders, endedPage, type DnsPageContent } from "./dns-page-html.ts";

export type DnsPageOptions = { db: Database; clock: Clock; limiter: Pick<Limiter, "address">; checks: Checks };

/** The problems that DNS records solve; a visitor sees no others. */
const shownProblems = new Set(["record_missing", "wrong_target", "conflicting_record", "lookup_failed", "proof_missing", "caa_blocks"]);

/** Serves the page of a domain's link, which shows its DNS records (specification 5.12). Each visit counts on the visitor's address. */
export async function serveDnsPage(exchange: Exchange, { db, clock, limiter, checks }: DnsPageOptions): Promise<void> {
  exchange.lines += headerLines(dnsPageHeaders);
  const decision = await limiter.address(clientAddress(exchange));
  exchange.limits = limitHeaders(decision);
  const refusal = refusalOf(decision);
  if (refusal !== undefined) return sendProblem(exchange, refusal);
  const now = clock();
  const domain = await findByLink(db, exchange.params["token"] ?? "", now);
  const html = "text/html; charset=utf-8";
  if (domain === null) return sendText(exchange, 404, endedPage(), html);
  if (isCheckLate(domain, now)) await db.write((tx) => checkSoon(tx, domain, now));
  sendText(exchange, 200, dnsPage(contentOf(domain, checks)), html);
}

function contentOf(domain: StoredDomain, checks: Checks): DnsPageContent {
  const { hostname, registrableDomain, status, problems, proofNeeded, nextCheckAt } = domain;
  const { type, name, value, ttl } = recordFor(domain, checks.own.platformDomain);
  const records = [{ type: type === "ALIAS" ? "ALIAS or ANAME" : type, name, fullName: hostname, value, ttl }];
  if (proofNeeded) {
    const proof = ownershipRecordOf(checks, domain);
    records.push({ type: proof.type, name: relativeName(proof.name, registrableDomain), fullName: proof.name, value: proof.value, ttl });
  }
  const shown = problems.filter(({ code }) => shownProblems.has(code)).map(({ message, found, fix }) => ({ message, found, fix }));
  return { hostname, records, isRight: status === "verified", isChecked: nextCheckAt !== null, problems: shown };
}

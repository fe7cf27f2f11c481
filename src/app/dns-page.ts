import { limitHeaders } from "../callers/limits/headers.ts";
import { type Limiter, refusalOf } from "../callers/limits/limits.ts";
import type { Context } from "../platform/context.ts";
import { sendProblem, sendText } from "../platform/http/answers.ts";
import { clientAddress, type Exchange, headerLines } from "../platform/http/exchange.ts";
import { recordFor, relativeName } from "../publishing/dns/hostnames.ts";
import { type Checks, ownershipRecordOf } from "../publishing/domains/checks.ts";
import type { StoredDomain } from "../publishing/domains/domains.store.ts";
import { checkSoon, findByLink, isCheckLate } from "../publishing/domains/links.store.ts";
import { inlineSource, Markup, markup } from "../publishing/storefront/markup.ts";

/** The problems that DNS records solve; a visitor sees no others. */
const shownProblems = new Set(["record_missing", "wrong_target", "conflicting_record", "lookup_failed", "proof_missing", "caa_blocks"]);

/** Serves the page of a domain's link, which shows its DNS records (specification 5.12). Each visit counts on the visitor's address. */
export async function serveDnsPage(
  exchange: Exchange,
  { db, clock }: Pick<Context, "db" | "clock">,
  limiter: Pick<Limiter, "address">,
  checks: Checks,
): Promise<void> {
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

type ShownRecord = { type: string; name: string; fullName: string; value: string; ttl: number };
export type DnsPageContent = {
  hostname: string;
  records: ShownRecord[];
  isRight: boolean;
  /** Whether the service still checks the records. */
  isChecked: boolean;
  problems: { message: string; found: string; fix: string }[];
};

/** Reloads the content every 15 seconds while a record is missing, and adds buttons that copy values. The page works without it. */
const script = `const main=document.querySelector("main");
const again=async()=>{try{const r=await fetch(location.href,{cache:"no-store"});if(r.status===429||r.status>=500)return;
const next=new DOMParser().parseFromString(await r.text(),"text/html");document.title=next.title;
const now=next.querySelector("main");if(now.innerHTML!==last){last=now.innerHTML;main.innerHTML=last;buttons()}}catch{}};
const buttons=()=>{for(const code of main.querySelectorAll("code")){const b=document.createElement("button");b.type="button";b.textContent="Copy";
b.setAttribute("aria-label","Copy "+code.dataset.what);b.onclick=async()=>{await navigator.clipboard.writeText(code.textContent);b.textContent="Copied"};
if(navigator.clipboard)code.after(b)}};
let last=main.innerHTML;buttons();setInterval(()=>{if(!document.hidden&&main.querySelector("[data-waiting]"))void again()},15000);`;

const style = `:root{color-scheme:light dark;--page:light-dark(#faf9f6,#131417);--card:light-dark(#fff,#1e2024);--line:light-dark(#d9d4c8,#3d4149);--text:light-dark(#1c2024,#ecebe7);--quiet:light-dark(#575e68,#abb0ba);--good:light-dark(#0b6b58,#5fd3b5);--wait:light-dark(#8a4b00,#f2b766)}
*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--text);font:1rem/1.6 system-ui,sans-serif;overflow-wrap:anywhere}
main{max-width:44rem;margin:0 auto;padding:2rem 1.25rem 3rem}h1{margin:0 0 .5rem;font-size:1.6rem;line-height:1.25}h2{margin:0 0 .75rem;font-size:1.1rem}
.lead{color:var(--quiet)}.state{margin:1.25rem 0;padding:.75rem 1rem;border:1px solid;border-radius:.6rem;font-weight:600;color:var(--wait)}.state.right{color:var(--good)}
section{margin:1.25rem 0;padding:1rem 1.25rem;border:1px solid var(--line);border-radius:.8rem;background:var(--card)}
dl{display:grid;grid-template-columns:minmax(4rem,8rem) 1fr;gap:.6rem 1rem;margin:0}dt{color:var(--quiet)}dd{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;margin:0}
code{font:.95rem ui-monospace,monospace;user-select:all}button{min-height:2rem;padding:0 .8rem;border:1px solid var(--line);border-radius:.5rem;background:transparent;color:inherit;font:inherit;font-size:.875rem;cursor:pointer}
:focus-visible{outline:3px solid var(--good);outline-offset:2px}p{margin:.6rem 0 0}@media(max-width:26rem){dl{grid-template-columns:1fr;gap:.1rem}dd{margin-bottom:.6rem}}`;

export const dnsPageHeaders = {
  "X-Robots-Tag": "noindex, nofollow",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Content-Security-Policy": `default-src 'none'; script-src ${inlineSource(script)}; style-src ${inlineSource(style)}; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
};

/** The records of a name and whether they are right, for the person who can set them. */
export function dnsPage({ hostname, records, isRight, isChecked, problems }: DnsPageContent): string {
  const many = records.length > 1;
  const waiting = isChecked
    ? `Not found yet. This page checks again every minute. A new record can take up to 48 hours to appear.`
    : `Not found. We have stopped checking: ask the person who sent you this link to check the name again.`;
  return page(
    `DNS ${many ? "records" : "record"} for ${hostname}`,
    markup`<h1>DNS ${many ? "records" : "record"} for ${hostname}</h1>
<p class="lead">${isRight ? "There is nothing left to do. Keep the record as it is." : `Please create ${many ? "these records" : "this record"} at your DNS provider. You need no account here.`}</p>
<p class="state${isRight && " right"}" role="status"${new Markup(isRight || !isChecked ? "" : " data-waiting")}>${isRight ? (many ? "The records are right." : "The record is right.") : waiting}</p>
${records.map(recordSection)}
${!isRight && problems.length > 0 && markup`<section><h2>What is wrong</h2>${problems.map(({ message, found, fix }) => markup`<p>${message}</p><p>Found: ${found}</p><p>${fix}</p>`)}</section>`}`,
  );
}

function recordSection({ type, name, fullName, value, ttl }: ShownRecord): Markup {
  const row = (what: string, text: string): Markup => markup`<dt>${what}</dt><dd><code data-what="${what}">${text}</code></dd>`;
  return markup`<section aria-label="${type} record"><h2>${type} record</h2>
<dl>${[row("Type", type), row("Name", name), row("Value", value), row("TTL (seconds)", String(ttl))]}</dl>
${fullName !== name && markup`<p class="lead">If the provider asks for the full name: ${fullName}</p>`}
</section>`;
}

/** The page of a link that has expired, was ended, or never existed. */
export function endedPage(): string {
  const title = "This link does not work any more";
  return page(title, markup`<h1>${title}</h1><p class="lead">Ask the person who sent it to you for a new one.</p>`);
}

function page(title: string, content: Markup): string {
  return markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow"><title>${title}</title><style>${new Markup(style)}</style></head>
<body><main>${content}</main><script>${new Markup(script)}</script></body></html>
`.text;
}

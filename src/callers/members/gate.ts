import type { IncomingHttpHeaders } from "node:http";
import type { Context } from "../../platform/context.ts";
import { clientAddress, type Exchange, type Gate } from "../../platform/http/exchange.ts";
import { Problem, type ProblemFields } from "../../platform/problem.ts";
import { limitHeaders } from "../limits/headers.ts";
import { type Limiter, refusalOf } from "../limits/limits.ts";
import type { Decision, Verdict } from "../limits/windows.ts";
import { scopesOf } from "./members.ts";
import { findSession, recordSeen, type SignedIn } from "./sessions.store.ts";
import { isPlainLoopback, sessionCookie } from "./sessions.ts";

/**
 * Checks the dashboard's calls (specification 3.10): the origin, then the session, then the person's window. Reads the session from
 * the database for each request, so that the end of a session or a change of role takes effect at once on every node. A request
 * without a session can only call operations that need none, such as signing in; all others count on its address and are refused.
 */
export function openDashboardGate(
  { db, clock, onError }: Pick<Context, "db" | "clock" | "onError">,
  publicUrl: string,
  limiter: Pick<Limiter, "dashboard" | "address" | "peekAddress" | "giveBack">,
  onRefused: (verdict: Verdict) => void,
): Gate {
  const cookie = sessionCookie(publicUrl);

  async function authenticate(exchange: Exchange): Promise<ProblemFields | undefined> {
    const isOwn = comesFromDashboard(exchange.method, exchange.headers, publicUrl);
    if (!isOwn) return addLimitHeaders(exchange).then(foreignOrigin);
    const session = await sessionOf(exchange).catch(async (error: unknown) => {
      await addLimitHeaders(exchange);
      throw error;
    });
    if (session && !isForSession(exchange, session)) return addLimitHeaders(exchange).then(sessionChanged);
    if (session) return countMember(exchange, session);
    if (exchange.route.isOpen) return addLimitHeaders(exchange);
    return applyDecision(exchange, await limiter.address(clientAddress(exchange))) ?? new Problem("unauthorized", "Sign in first.");
  }

  async function countMember(exchange: Exchange, session: SignedIn): Promise<ProblemFields | undefined> {
    const { accountId, memberId, sessionId, role, confirmedAt } = session;
    const decision = await limiter.dashboard(memberId);
    const refusal = applyDecision(exchange, decision);
    if (refusal) return refusal;
    exchange.countedAt = decision.at;
    // The request goes on even if its use of the session cannot be recorded.
    await recordSeen(db, session, clock()).catch(onError);
    exchange.caller = { accountId, person: { memberId, sessionId, confirmedAt }, scopes: scopesOf(role) };
    return undefined;
  }

  async function sessionOf(exchange: Exchange): Promise<SignedIn | undefined> {
    const [token] = cookie.read(exchange.headers.cookie);
    return token === undefined ? undefined : findSession(db, token, clock());
  }

  async function giveBack(exchange: Exchange): Promise<void> {
    const { caller, countedAt } = exchange;
    if (!caller?.person) return; // without a session nothing was counted
    exchange.limits = limitHeaders(await limiter.giveBack({ memberId: caller.person.memberId }, countedAt));
  }

  function applyDecision(exchange: Exchange, decision: Decision): ProblemFields | undefined {
    exchange.limits = limitHeaders(decision);
    if (decision.verdict !== "pass") onRefused(decision.verdict);
    return refusalOf(decision);
  }

  async function addLimitHeaders(exchange: Exchange): Promise<undefined> {
    exchange.limits = await currentHeaders(clientAddress(exchange));
  }

  async function currentHeaders(address: string): Promise<string> {
    return limitHeaders(await limiter.peekAddress(address));
  }

  return { authenticate, giveBack, addLimitHeaders, countUnparsed: currentHeaders };
}

/**
 * Whether the request is for the browser's current session. A page names its member in `Dashboard-Member`, because another tab may
 * have switched to another account since: input for one shop must never change another.
 */
function isForSession({ headers }: Exchange, { memberId }: SignedIn): boolean {
  const named = headers["dashboard-member"];
  return named === undefined || named === String(memberId);
}

function sessionChanged(): Problem {
  return new Problem("session_changed", "This browser is signed in as somebody else by now. Load the page again.");
}

function foreignOrigin(): Problem {
  return new Problem("forbidden", "The request does not come from the dashboard's own origin.");
}

const readMethods = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Whether a request comes from the dashboard itself. Browsers send cookies with requests of other sites too, so a write must
 * name the dashboard's origin (RFC 6454, 7). If the browser sends `Sec-Fetch-Site` (Fetch Metadata), the request must be from
 * the same origin; a read may also come from the address bar. On loopback, all loopback names of this machine are one origin.
 */
export function comesFromDashboard(method: string, headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const isRead = readMethods.has(method);
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && !(isRead && site === "none")) return false;
  return isRead || isOwnOrigin(headers.origin, headers.host, publicUrl);
}

function isOwnOrigin(origin: string | undefined, host: string | undefined, publicUrl: string): boolean {
  if (origin === undefined || origin === publicUrl) return origin !== undefined;
  return isPlainLoopback(publicUrl) && origin === `http://${host}` && URL.canParse(origin) && isPlainLoopback(origin);
}

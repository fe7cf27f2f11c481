import type { FastifyContextConfig, FastifyRequest } from "fastify";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import { clientAddress, type Gate } from "../../platform/http/caller.ts";
import { Problem } from "../../platform/problem.ts";
import {
  limitHeaders,
  pushLimitHeaders,
  refusalOf,
  replaceLimitHeaders,
  type Decision,
  type Limiter,
  type Verdict,
} from "../limits/limits.ts";
import { comesFromDashboard } from "./origins.ts";
import { scopesOf } from "./members.ts";
import { sessionCookie } from "./sessions.ts";
import { findSession, noteSeen, type SignedIn } from "./sessions.store.ts";

export type DashboardGateOptions = {
  db: Database;
  clock: Clock;
  limiter: Pick<Limiter, "dashboard" | "address" | "peekAddress" | "giveBack">;
  publicUrl: string;
  onRefused: (verdict: Verdict) => void;
  onError: (error: unknown) => void;
};

/**
 * Checks the dashboard's calls (specification 3.10): the origin, then the session, then the person's window. Reads the session from
 * the database for each request, so that an ended session or a removed role takes effect at once on every node. A request without
 * a session counts on the caller's address, but may sign in.
 */
export function openDashboardGate(options: DashboardGateOptions): Gate {
  const { db, clock, limiter, publicUrl, onRefused, onError } = options;
  const cookie = sessionCookie(publicUrl);

  async function authenticate(request: FastifyRequest): Promise<Problem | undefined> {
    if (!comesFromDashboard(request.method, request.headers, publicUrl)) {
      await addLimitHeaders(request);
      return new Problem("forbidden", "The request does not come from the dashboard's own origin.");
    }
    const session = await sessionOf(request).catch(async (error: unknown) => {
      await addLimitHeaders(request);
      throw error;
    });
    if (session) return admitPerson(request, session);
    if ((request.routeOptions.config as FastifyContextConfig | undefined)?.isOpen) return addLimitHeaders(request);
    const refusal = show(request, await limiter.address(clientAddress(request)));
    return refusal ?? new Problem("unauthorized", "Sign in first.");
  }

  async function admitPerson(request: FastifyRequest, session: SignedIn): Promise<Problem | undefined> {
    const { accountId, memberId, sessionId, role, confirmedAt } = session;
    const decision = await limiter.dashboard(memberId);
    const refusal = show(request, decision);
    if (refusal) return refusal;
    request.countedAt = decision.at;
    // A use that could not be recorded is no reason to refuse the request.
    await noteSeen(db, session, clock()).catch(onError);
    request.caller = { accountId, person: { memberId, sessionId, confirmedAt }, scopes: scopesOf(role) };
    return undefined;
  }

  async function sessionOf(request: FastifyRequest): Promise<SignedIn | undefined> {
    const token = cookie.read(request.headers.cookie);
    return token === undefined ? undefined : findSession(db, token, clock());
  }

  async function giveBack({ caller, answerHeaders, countedAt }: FastifyRequest): Promise<void> {
    if (!caller?.person) return; // without a session nothing was counted
    replaceLimitHeaders(answerHeaders, await limiter.giveBack({ personId: caller.person.memberId }, countedAt));
  }

  function show(request: FastifyRequest, decision: Decision): Problem | undefined {
    pushLimitHeaders(request.answerHeaders, decision);
    if (decision.verdict !== "pass") onRefused(decision.verdict);
    return refusalOf(decision);
  }

  async function addLimitHeaders(request: FastifyRequest): Promise<undefined> {
    pushLimitHeaders(request.answerHeaders, await limiter.peekAddress(clientAddress(request)));
  }

  async function limitHeadersOf(address: string): Promise<string[]> {
    return limitHeaders(await limiter.peekAddress(address));
  }

  return { authenticate, giveBack, addLimitHeaders, limitHeadersOf };
}

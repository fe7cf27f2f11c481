import type { FastifyContextConfig, FastifyRequest } from "fastify";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/db/database.ts";
import type { Gate } from "../../platform/http/caller.ts";
import { Problem } from "../../platform/problem.ts";
import { limitHeaders, pushLimitHeaders, refusalOf, type Decision, type Limiter, type Verdict } from "../limits/limits.ts";
import { comesFromDashboard } from "./origins.ts";
import { scopesOf } from "./people.ts";
import { sessionCookie } from "./sessions.ts";
import { findSession, noteSeen, type SignedIn } from "./sessions.store.ts";

export type DashboardGateOptions = {
  db: Database;
  clock: Clock;
  limiter: Pick<Limiter, "dashboard" | "address" | "peekAddress">;
  publicUrl: string;
  onRefused: (verdict: Verdict) => void;
  onError: (error: unknown) => void;
};

/**
 * The way in to what the dashboard calls (decisions, part 3): the origin, then the session, then the person's own window.
 * The session is read anew for each request, so that on every node one that is ended, and a role that is taken away,
 * are so at once. Whoever is not signed in counts on the caller's address, but may sign in.
 */
export function openDashboardGate(options: DashboardGateOptions): Gate {
  const { db, clock, limiter, publicUrl, onRefused, onError } = options;
  const cookie = sessionCookie(publicUrl);

  async function admit(request: FastifyRequest): Promise<Problem | undefined> {
    if (!comesFromDashboard(request.method, request.headers, publicUrl)) {
      await describe(request);
      return new Problem("forbidden", "The request does not come from the dashboard's own origin.");
    }
    const session = await sessionOf(request).catch(async (error: unknown) => {
      await describe(request);
      throw error;
    });
    if (session) return admitPerson(request, session);
    if ((request.routeOptions.config as FastifyContextConfig | undefined)?.isOpen) return describe(request);
    const refusal = show(request, await limiter.address(request.ip));
    return refusal ?? new Problem("unauthorized", "Sign in first.");
  }

  async function admitPerson(request: FastifyRequest, session: SignedIn): Promise<Problem | undefined> {
    const { accountId, memberId, sessionId, role } = session;
    const refusal = show(request, await limiter.dashboard(memberId));
    if (refusal) return refusal;
    // A use that could not be noted is no reason to refuse.
    await noteSeen(db, session, clock()).catch(onError);
    request.caller = { accountId, person: { memberId, sessionId }, scopes: scopesOf(role) };
    return undefined;
  }

  async function sessionOf(request: FastifyRequest): Promise<SignedIn | undefined> {
    const token = cookie.read(request.headers.cookie);
    return token === undefined ? undefined : findSession(db, token, clock());
  }

  function show(request: FastifyRequest, decision: Decision): Problem | undefined {
    pushLimitHeaders(request.answerHeaders, decision);
    if (decision.verdict !== "pass") onRefused(decision.verdict);
    return refusalOf(decision);
  }

  async function describe(request: FastifyRequest): Promise<undefined> {
    pushLimitHeaders(request.answerHeaders, await limiter.peekAddress(request.ip));
  }

  async function describeAddress(address: string): Promise<string[]> {
    return limitHeaders(await limiter.peekAddress(address));
  }

  return { admit, describe, describeAddress };
}

import type { Origin } from "../events.ts";
import { Problem } from "../problem.ts";

/** A signed-in member of the account. */
export type Person = {
  readonly memberId: number;
  readonly sessionId: number;
  /** When the member of this session was last confirmed (ms since the Unix epoch). */
  readonly confirmedAt: number;
};

/** The caller of an operation: a key, or a signed-in person. */
export type Caller = {
  readonly accountId: number;
  readonly keyId?: number;
  readonly person?: Person;
  readonly scopes: ReadonlySet<string>;
  /** Whether the caller's key is for web pages, where anybody can read it. */
  readonly publishable?: boolean;
  /** The web origins that the caller's key is bound to; undefined if it is bound to none. */
  readonly origins?: ReadonlySet<string>;
};

/** Who makes the changes of a request, for their events. */
export function originOf(caller: Caller | null, requestId: string, at: number): Origin {
  if (caller?.person) return { actor: { type: "member", id: caller.person.memberId }, requestId, at };
  const actor: Origin["actor"] = caller?.keyId === undefined ? { type: "system", id: null } : { type: "key", id: caller.keyId };
  return { actor, requestId, at };
}

type CallOrigin = { caller: Caller | null; headers: { origin?: string | undefined } };

/** The caller of a request that needs this scope; null if it needs none and has no caller. @throws Problem `unauthorized`, `forbidden` */
export function requireScope({ caller, headers }: CallOrigin, scope: string | null): Caller | null {
  if (scope === null) return caller;
  if (!caller) throw unknownCaller();
  requireOrigin(caller, headers.origin);
  if (caller.scopes.has(scope)) return caller;
  throw new Problem("forbidden", caller.person ? "Your role does not allow this." : `The key lacks the scope ${scope}.`);
}

/** A browser names the origin of every page that calls another host. A request without one comes from a program, and passes. */
function requireOrigin({ origins }: Caller, origin: string | undefined): void {
  if (origins === undefined || origin === undefined || origins.has(origin)) return;
  throw new Problem("forbidden", "The key is bound to other origins than that of this page.");
}

export function unknownCaller(): Problem {
  return new Problem("unauthorized", "The request needs an API key.");
}

import type { Origin } from "../events.ts";
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
  /** The web origins that the caller's key is bound to; undefined if it is bound to none. */
  readonly origins?: ReadonlySet<string>;
};

/** Who makes the changes of a request, for their events. */
export function originOf(caller: Caller | null, requestId: string, at: number): Origin {
  if (caller?.person) return { actor: { type: "member", id: caller.person.memberId }, requestId, at };
  const actor: Origin["actor"] = caller?.keyId === undefined ? { type: "system", id: null } : { type: "key", id: caller.keyId };
  return { actor, requestId, at };
}

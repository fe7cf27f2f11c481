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

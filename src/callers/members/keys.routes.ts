import { Type } from "../../platform/json-schema.ts";
import type { Database } from "../../platform/db/database.ts";
import type { Origin } from "../../platform/events.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import { operation, type Operation } from "../../platform/http/operation.ts";
import { DateTime, Id, Nullable } from "../../platform/http/schemas.ts";
import { byId, Problem } from "../../platform/problem.ts";
import { quotaOf } from "../accounts/accounts.ts";
import { findAccount } from "../accounts/accounts.store.ts";
import { KeyName, KeyOrigins, overlapHoursMax, scopes, keyResponse, type Key } from "../keys/keys.ts";
import { findKey, listKeys } from "../keys/keys.store.ts";
import type { Limiter, StrikeStatus } from "../limits/limits.ts";
import { personOf, requireConfirmed, signedOut } from "./responses.ts";

const tag = "Keys";
const KeyPath = Type.Object({ keyId: Id("The key.") });
const Scopes = Type.Array(Type.Enum([...scopes]), { minItems: 1, maxItems: 100 });
const closed = { additionalProperties: false };
const KeyResponse = Type.Object({
  id: Id("Unique identifier of the key."),
  name: Type.String({ description: "The key's name." }),
  prefix: Type.String({ description: "How the key begins." }),
  publishable: Type.Boolean(),
  scopes: Type.Array(Type.String()),
  origins: Type.Array(Type.String(), { description: "The web origins that may use it. Empty: any origin may." }),
  createdAt: DateTime("When it was created."),
  expiresAt: Nullable(DateTime("When it expires.")),
  lastUsedAt: Nullable(DateTime("When it was last used, to the minute.")),
  replaces: Nullable(Type.Integer({ description: "The key that it replaced in a rotation, which may be gone." })),
  strikes: Type.Integer({ description: "Requests over a limit within the last minute." }),
  strikesRemaining: Type.Integer({ description: "Strikes left before the key is banned." }),
  bannedUntil: Nullable(DateTime("When its ban ends.")),
});
const MadeKey = Type.Object({
  id: Id("Unique identifier of the key."),
  key: Type.String({ description: "The key, shown here only." }),
  scopes: Type.Array(Type.String()),
});
const RotatedKey = Type.Object({
  ...MadeKey.properties,
  previous: Type.Object({ id: Id("The key that it replaces."), expiresAt: DateTime("When that one expires.") }),
});

/** An operator's operations on keys. They validate their input, and return once every node has applied the change. */
type KeyAdministration = {
  "keys.create": (input: unknown) => Promise<{ id: number; key: string; scopes: string[] }>;
  "keys.rotate": (input: unknown) => Promise<{ id: number; key: string; scopes: string[]; previous: { id: number; expiresAt: string } }>;
  "keys.revoke": (input: unknown) => Promise<unknown>;
  "keys.unban": (input: unknown) => Promise<{ unbanned: boolean }>;
};
export type KeyServices = {
  /** Returns the operations, on behalf of `origin`. */
  administration: (origin: Origin) => KeyAdministration;
  limiter: Pick<Limiter, "strikeStatus">;
};

/** The account's keys: every member sees them, and owners create and revoke them. */
export const keyRoutes: Operation<KeyServices>[] = [
  operation({
    operationId: "listKeys",
    method: "GET",
    path: "/keys",
    tag,
    summary: "List the keys",
    description: "The account's keys by id, and how near each is to a ban.",
    scope: "keys:read",
    answers: { 200: { description: "The keys.", schema: Type.Array(KeyResponse) } },
    handle: async ({ db, caller, services: { limiter } }) => {
      const { accountId } = personOf(caller);
      const account = await findAccount(db, accountId);
      if (!account) throw signedOut();
      const quota = quotaOf(account);
      const keys = await listKeys(db, accountId);
      const body = await Promise.all(keys.map(async (key) => withStrikes(key, await limiter.strikeStatus(key.id, quota))));
      return { status: 200, body };
    },
  }),
  operation({
    operationId: "createKey",
    method: "POST",
    path: "/keys",
    tag,
    summary: "Create a key",
    description: "Creates a key, which is shown once. Default scopes: all that its kind may have.",
    scope: "keys:write",
    authorize: requireConfirmed,
    body: Type.Object(
      {
        scopes: Type.Optional(Scopes),
        expires: Type.Optional(Type.String({ maxLength: 100 })),
        publishable: Type.Optional(Type.Boolean()),
        name: Type.Optional(KeyName),
        origins: Type.Optional(KeyOrigins),
      },
      closed,
    ),
    answers: { 201: { description: "The key.", schema: MadeKey } },
    handle: async ({ caller, body, origin, services: { administration } }) => ({
      status: 201,
      body: await administration(origin)["keys.create"]({ account: personOf(caller).accountId, ...body }),
    }),
  }),
  operation({
    operationId: "rotateKey",
    method: "POST",
    path: "/keys/{keyId}/rotate",
    tag,
    summary: "Rotate a key",
    description: "Creates a key with the scopes and the expiry of an existing one. The old key ends after the overlap. Default: 24 hours.",
    scope: "keys:write",
    authorize: requireConfirmed,
    params: KeyPath,
    body: Type.Object({ overlapHours: Type.Optional(Type.Number({ minimum: 0, maximum: overlapHoursMax })) }, closed),
    answers: { 201: { description: "The new key.", schema: RotatedKey } },
    handle: async ({ db, caller, params, body, origin, services: { administration } }) => {
      await requireOwnKey(db, personOf(caller).accountId, params.keyId);
      return { status: 201, body: await administration(origin)["keys.rotate"]({ id: params.keyId, ...body }) };
    },
  }),
  operation({
    operationId: "revokeKey",
    method: "DELETE",
    path: "/keys/{keyId}",
    tag,
    summary: "Revoke a key",
    description: "Revokes a key at once.",
    scope: "keys:write",
    params: KeyPath,
    answers: { 204: { description: "The key no longer works." } },
    handle: async ({ db, caller, params, origin, services: { administration } }) => {
      await requireOwnKey(db, personOf(caller).accountId, params.keyId);
      await administration(origin)["keys.revoke"]({ id: params.keyId });
      return { status: 204 };
    },
  }),
  operation({
    operationId: "unbanKey",
    method: "POST",
    path: "/keys/{keyId}/unban",
    tag,
    summary: "End a key's ban",
    description: "Ends a key's ban and clears its strikes.",
    scope: "keys:write",
    params: KeyPath,
    answers: { 200: { description: "Whether it had a ban or strikes.", schema: Type.Object({ unbanned: Type.Boolean() }) } },
    handle: async ({ db, caller, params, origin, services: { administration } }) => {
      await requireOwnKey(db, personOf(caller).accountId, params.keyId);
      const { unbanned } = await administration(origin)["keys.unban"]({ id: params.keyId });
      return { status: 200, body: { unbanned } };
    },
  }),
];

/** Answers another account's key as an unknown one. A key never moves to another account, so the check cannot become stale. */
async function requireOwnKey(db: Database, accountId: number, keyId: number): Promise<void> {
  const key = await findKey(db, keyId);
  if (key?.accountId !== accountId) throw new Problem("not_found", `There is no ${byId("key", keyId)}.`);
}

function withStrikes(key: Key, { strikes, strikesRemaining, bannedUntil }: StrikeStatus) {
  return { ...keyResponse(key), strikes, strikesRemaining, bannedUntil: bannedUntil === undefined ? null : formatDateTime(bannedUntil) };
}

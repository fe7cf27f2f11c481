import type { Queryable } from "../../platform/db/database.ts";
import type { Caller } from "../../platform/http/caller.ts";
import { deleted, listed, operation, type Operation } from "../../platform/http/operation.ts";
import { DateTime, Id, named, Nullable, OpenText, paging } from "../../platform/http/schemas.ts";
import { Type } from "../../platform/json-schema.ts";
import { endBan } from "../keys/keys.store.ts";
import { KeyName, KeyOrigins, overlapHoursDefault, overlapHoursMax, scopes } from "../keys/keys.ts";
import {
  confirm,
  createKey,
  type KeyServices,
  lookForBan,
  readKeys,
  requireKey,
  revealKey,
  revokeKey,
  rotateKey,
} from "./key-operations.ts";
import { personOf, requireConfirmed } from "./responses.ts";

const tag = "Keys";
const stability = "beta";
const path = "/keys";
const onePath = "/keys/{keyId}";
const KeyPath = Type.Object({ keyId: Id("The key.") });
const closed = { additionalProperties: false };
const shown = {
  id: Id("Unique identifier of the key."),
  name: Type.String({ description: "The key's name." }),
  publishable: Type.Boolean({ description: "Whether it is for web pages." }),
  scopes: Type.Array(OpenText(scopes, ""), { description: "What it may do." }),
  origins: Type.Array(Type.String(), { description: "The web origins that may use it; empty: any." }),
  expiresAt: Nullable(DateTime("When it expires.")),
  replaces: Nullable(Type.Integer({ format: "int64", description: "The key that it replaced." })),
};
const Key = named(
  "Key",
  Type.Object({
    ...shown,
    prefix: Type.String({ description: "How the key begins." }),
    createdAt: DateTime("When it was created."),
    lastUsedAt: Nullable(DateTime("When it was last used, to the minute.")),
    strikes: Type.Integer({ description: "Requests over a limit within the last minute." }),
    strikesRemaining: Type.Integer({ description: "Strikes left before the key is banned." }),
    bannedUntil: Nullable(DateTime("When its ban ends, or that of a key that made it.")),
  }),
);
const PreviousKey = named(
  "PreviousKey",
  Type.Object({ id: Id("The key that was rotated."), expiresAt: DateTime("When that one expires.") }),
);
const CreatedKey = named(
  "CreatedKey",
  Type.Object({
    ...shown,
    key: Type.Optional(Type.String({ description: "The key, in the first answer only." })),
    notice: Type.Optional(Type.String({ description: "In a replay: why `key` is missing." })),
    previous: Type.Optional(PreviousKey),
  }),
);
const KeyScope = named("KeyScope", Type.Enum([...scopes]));
const KeyInput = named(
  "KeyInput",
  Type.Object(
    {
      name: Type.Optional(KeyName),
      scopes: Type.Optional(
        Type.Array(KeyScope, {
          minItems: 1,
          maxItems: 100,
          description: "What it may do, such as `orders:read`. Default: all that the caller may give; never those of `keys` or `contacts`.",
        }),
      ),
      expires: Type.Optional(
        Type.String({
          maxLength: 100,
          "x-pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2}))?$",
          description:
            "A date, or a date and time such as `2027-01-31T12:00:00Z`, after which it no longer works. Default: never, or with the key that makes it.",
        }),
      ),
      publishable: Type.Optional(Type.Boolean({ description: "Whether it is for web pages. Default: false." })),
      origins: Type.Optional(KeyOrigins),
    },
    closed,
  ),
);
const RotateKey = named(
  "KeyRotation",
  Type.Object(
    {
      overlapHours: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: overlapHoursMax,
          default: overlapHoursDefault,
          description: "How long the old key still works.",
        }),
      ),
    },
    closed,
  ),
);

const first = { id: 1, name: "Key 1", publishable: false, scopes: ["catalogue:read"], origins: [], expiresAt: null, replaces: null };
const listedToo = {
  prefix: "psk_9xYz",
  createdAt: "2026-12-24T10:00:00Z",
  lastUsedAt: null,
  strikes: 0,
  strikesRemaining: 200,
  bannedUntil: null,
};
const example = "psk_0000000000000000000000000000000qbdq0";

/** The account's keys, for members and for keys that may manage others (specification 3.13): members see them all, owners change them. */
export const keyRoutes: Operation<KeyServices>[] = [
  operation({
    operationId: "listKeys",
    method: "GET",
    path,
    tag,
    stability,
    summary: "List keys",
    description: "The account's keys, ordered by `id`, and how near each is to a ban. Never shows a key itself.",
    scope: "keys:read",
    query: Type.Object(paging),
    answers: {
      200: listed("The keys.", named("Keys", Type.Array(Key)), [{ ...first, ...listedToo }]),
    },
    read: readKeys,
  }),
  operation({
    operationId: "createKey",
    method: "POST",
    path,
    tag,
    stability,
    summary: "Create a key",
    description: "Creates a key, with scopes and an expiry within those of the key that makes it.",
    details: "The key is shown once. A ban of the key that makes it counts for it. At most 100 live keys for each account.",
    scope: "keys:write",
    authorize: confirmedIfMember,
    body: KeyInput,
    example: { body: { name: "Website", scopes: ["catalogue:read"], publishable: true, origins: ["https://shop.example"] } },
    answers: {
      201: {
        description: "The new key.",
        schema: CreatedKey,
        example: {
          ...first,
          id: 2,
          name: "Website",
          publishable: true,
          origins: ["https://shop.example"],
          key: example.replace("psk", "psp"),
        },
      },
    },
    before: () => Promise.resolve({ isBanned: false }),
    write: createKey,
    reveal: revealKey,
    secret: "key",
  }),
  operation({
    operationId: "rotateKey",
    method: "POST",
    path: `${onePath}/rotate`,
    tag,
    stability,
    summary: "Rotate a key",
    description: "Creates a key with the name, scopes, origins and expiry of another, which ends after the overlap.",
    details: "A key cannot rotate one that may do what it may not, or that manages keys, itself included.",
    scope: "keys:write",
    authorize: confirmedIfMember,
    params: KeyPath,
    body: RotateKey,
    isBodyOptional: true,
    example: { params: { keyId: 2 }, body: { overlapHours: 1 } },
    answers: {
      201: {
        description: "The new key.",
        schema: CreatedKey,
        example: { ...first, id: 3, name: "Website", key: example, replaces: 2, previous: { id: 2, expiresAt: "2026-12-24T11:00:00Z" } },
      },
    },
    problems: ["not_found", "key_replaced"],
    before: lookForBan,
    write: rotateKey,
    reveal: revealKey,
    secret: "key",
    finish: confirm,
  }),
  operation({
    operationId: "revokeKey",
    method: "DELETE",
    path: onePath,
    tag,
    stability,
    summary: "Revoke a key",
    description: "Revokes a key: after the answer it no longer works.",
    details: "A key can revoke itself, and keys that may do no more than it.",
    scope: "keys:write",
    params: KeyPath,
    example: { params: { keyId: 2 } },
    answers: { 204: deleted("The key no longer works.") },
    problems: ["not_found"],
    write: revokeKey,
    finish: confirm,
  }),
];

/** Only members end bans. */
export const unbanRoutes: Operation<KeyServices>[] = [
  operation({
    operationId: "unbanKey",
    method: "POST",
    path: `${onePath}/unban`,
    tag,
    summary: "End a key's ban",
    description: "Ends a key's ban, also that of a key that made it, and clears their strikes.",
    scope: "keys:write",
    params: KeyPath,
    answers: { 200: { description: "Whether there was a ban or a strike.", schema: Type.Object({ unbanned: Type.Boolean() }) } },
    handle: async ({ db, caller, params, services: { limiter } }) => {
      const key = await requireKey(db, personOf(caller).accountId, params.keyId);
      return { status: 200, body: { unbanned: await endBan(db, limiter, key) } };
    },
  }),
];

async function confirmedIfMember(db: Queryable, caller: Caller, now: number): Promise<void> {
  if (caller.person) await requireConfirmed(db, caller, now);
}

import type { Static, TSchema } from "typebox";
import type { Database, Queryable, Transaction } from "../db/database.ts";
import type { ProblemCode } from "../problem.ts";
import type { Caller } from "./caller.ts";
import type { Reading } from "./value-checks.ts";

/** An example of a request or an answer, shown in the description and run by the tests. */
export type Example = unknown;

export type AnswerDescription = {
  description: string;
  schema?: TSchema;
  example?: Example;
  /** Names of the headers of `description-headers.ts` that this answer carries beside those of every answer. */
  headers?: string[];
};

/** What a handler is given: validated input, who calls, and the one moment that counts as now. */
export type Call<P, Q, B> = {
  accountId: number;
  /** Undefined where a person calls. */
  keyId: number | undefined;
  params: P;
  query: Q;
  body: B;
  conditions: Conditions;
  /** Milliseconds since the Unix epoch. */
  now: number;
};

/** What an operation of the dashboard is given, which is about who calls; nobody is known where it has no scope. */
export type DashboardCall<P, Q, B> = {
  /** The database; for the work of the caller's account if the caller is known. */
  db: Database;
  caller: Caller | null;
  /** As the socket or a trusted proxy names it. */
  address: string;
  userAgent: string;
  params: P;
  query: Q;
  body: B;
  now: number;
};

/** `If-Match` and `If-None-Match` of the request, as sent. */
export type Conditions = { ifMatch: string | undefined; ifNoneMatch: string | undefined };

/** The count of changes; a text if the representation also depends on other rows or on the time. */
export type Version = number | string;

export type Answer = {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  /** The version of the resource in the body, sent as its strong ETag. */
  version?: Version;
};

type Declaration = {
  operationId: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** As in the description, below `/v1`: `/pets/{petId}`. */
  path: string;
  tag: string;
  summary: string;
  description: string;
  /** The scope that the caller must have; null where nobody needs to be known. */
  scope: string | null;
  stability?: "beta" | "experimental";
  /**
   * Throws the 403 for a caller who may not use the operation now, whatever the request contains. It runs after the
   * check of the scope and before the body is read.
   */
  permit?: (db: Queryable, caller: Caller, now: number) => Promise<void>;
  /** RFC 9745 and RFC 8594: both in milliseconds since the Unix epoch; `successor` with `{…}` filled from the path. */
  deprecated?: { since: number; sunset: number; successor: string };
  hideTryItPanel?: boolean;
  /** Content types that the body may have. Default: JSON. */
  mediaTypes?: string[];
  /** The most bytes of a JSON body. Default: 64 KiB; 4 KiB if `scope` is null. */
  bodyBytesMax?: number;
  /**
   * Counts a call by the caller's address before the body is read, and throws the 429 after too many. For operations that need no
   * key and no session.
   */
  throttle?: (address: string, now: number) => void;
  /** The body is a file, which `before` is handed as it arrives; `sample` names it in the code samples. */
  upload?: { mediaType: string; bytesMax: number; sample: string; description: string };
  /** The values that the example request is made of. */
  example?: { params?: Record<string, Example>; query?: Record<string, Example>; body?: Example };
  answers: Record<number, AnswerDescription>;
  /** The refusals that are this operation's own, beside those that any may give. */
  problems?: ProblemCode[];
};

/** What `before` makes of an uploaded body; `fingerprint` tells it from another one where an Idempotency-Key is replayed. */
export type Received = { fingerprint: string };

/**
 * A change, in a transaction that awaits nothing else. What has to wait for the outside (DNS, an uploaded body) is done
 * `before` it, and what others must know of it is told in `finish`, which runs however the change ended, and before the answer.
 */
type Write<C, F, R = F> = {
  write: (tx: Transaction, call: C, prepared: F) => Promise<Answer>;
  before?: (db: Database, call: C, body: AsyncIterable<Buffer>) => Promise<R>;
  finish?: (db: Database, call: C, prepared: F) => Promise<void>;
};

/** One operation of the API: the single source of its route, its validation, its answers and its description. */
export type Operation = Declaration & {
  params?: TSchema;
  query?: TSchema;
  body?: TSchema;
} & (
    | { read: (db: Database, call: Call<never, never, never>) => Promise<Answer>; write?: undefined; act?: undefined }
    | (Write<Call<never, never, never>, never, unknown> & { read?: undefined; act?: undefined })
    | { act: (visit: DashboardCall<never, never, never>) => Promise<Answer>; read?: undefined; write?: undefined }
  );

/** How the fields of a body are read: in a PATCH `null` removes a value (RFC 7396), elsewhere it counts as left out. */
export function readingOf({ method }: Pick<Operation, "method">): Reading {
  return { nullIsAbsent: method !== "PATCH" };
}

type Input<T extends TSchema | undefined> = T extends TSchema ? Static<T> : undefined;

/**
 * Declares an operation; the handler's input has the types of its schemas. `read` is given the database, `write` a
 * transaction, which also keeps the record of an Idempotency-Key; `act` sees to its own, and its answers, which may hold
 * secrets, are never kept.
 */
export function operation<
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
  F = unknown,
>(
  declared: Declaration & { params?: P; query?: Q; body?: B } & (
      | { read: (db: Database, call: Call<Input<P>, Input<Q>, Input<B>>) => Promise<Answer> }
      | Write<Call<Input<P>, Input<Q>, Input<B>>, F>
      | { act: (visit: DashboardCall<Input<P>, Input<Q>, Input<B>>) => Promise<Answer> }
    ),
): Operation {
  return declared;
}

import type { Static, TSchema } from "typebox";
import type { Database, Transaction } from "../db/database.ts";
import type { ProblemCode } from "../problem.ts";

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
  keyId: number;
  params: P;
  query: Q;
  body: B;
  conditions: Conditions;
  /** Milliseconds since the Unix epoch. */
  now: number;
};

/** `If-Match` and `If-None-Match` of the request, as sent. */
export type Conditions = { ifMatch: string | undefined; ifNoneMatch: string | undefined };

export type Answer = {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  /** The version of the resource in the body, sent as its strong ETag. */
  version?: number;
};

type Declaration = {
  operationId: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** As in the description, below `/v1`: `/pets/{petId}`. */
  path: string;
  tag: string;
  summary: string;
  description: string;
  /** The scope that the key must have. */
  scope: string;
  stability?: "beta" | "experimental";
  /** RFC 9745 and RFC 8594: both in milliseconds since the Unix epoch; `successor` with `{…}` filled from the path. */
  deprecated?: { since: number; sunset: number; successor: string };
  hideTryItPanel?: boolean;
  /** Content types that the body may have; JSON unless told. */
  mediaTypes?: string[];
  /** The values that the example request is made of. */
  example?: { params?: Record<string, Example>; query?: Record<string, Example>; body?: Example };
  answers: Record<number, AnswerDescription>;
  /** The refusals that are this operation's own, beside those that any may give. */
  problems?: ProblemCode[];
};

/** One operation of the API: the single source of its route, its validation, its answers and its description. */
export type Operation = Declaration & {
  params?: TSchema;
  query?: TSchema;
  body?: TSchema;
} & (
    | { read: (db: Database, call: Call<never, never, never>) => Promise<Answer>; write?: undefined }
    | { write: (tx: Transaction, call: Call<never, never, never>) => Promise<Answer>; read?: undefined }
  );

type Input<T extends TSchema | undefined> = T extends TSchema ? Static<T> : undefined;

/**
 * Declares an operation; the handler's input has the types of its schemas. `read` is given the database, `write` a
 * transaction, which also keeps the record of an Idempotency-Key.
 */
export function operation<
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(
  declared: Declaration & { params?: P; query?: Q; body?: B } & (
      | { read: (db: Database, call: Call<Input<P>, Input<Q>, Input<B>>) => Promise<Answer> }
      | { write: (tx: Transaction, call: Call<Input<P>, Input<Q>, Input<B>>) => Promise<Answer> }
    ),
): Operation {
  return declared;
}

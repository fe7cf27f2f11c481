import type { IncomingHttpHeaders } from "node:http";
import { batchOfOne, type Awaitable, type Batch, type Database, type Queryable, type Transaction } from "../db/database.ts";
import type { ProblemCode } from "../error-table.ts";
import type { Origin } from "../events.ts";
import { Type, type Static, type TObject, type TSchema } from "../json-schema.ts";
import type { Problem } from "../problem.ts";
import type { Caller } from "./caller.ts";
import type { CheckOptions } from "./value-checks.ts";

/** An example of a request or an answer, shown in the description and run by the tests. */
export type Example = unknown;

export type AnswerDescription = {
  description: string;
  schema?: TSchema;
  /** Default: JSON. */
  mediaType?: string;
  example?: Example;
  /** Names of the headers of `description-components.ts` that this answer carries beside those of every answer. */
  headers?: string[];
};

/**
 * One request to an operation. `I` has the validated `params`, `query` and `body`; `S` is what the operation needs of the app at
 * run time, which comes with the call so that routes are plain data.
 */
export type Call<S = unknown, I = unknown> = I & {
  accountId: number;
  /** Undefined if a signed-in person calls. */
  keyId: number | undefined;
  conditions: Conditions;
  headers: IncomingHttpHeaders;
  caller: Caller;
  services: S;
  /** The one moment that counts as now for this request, in milliseconds since the Unix epoch. */
  now: number;
  /** The caller and the request, for the events of its changes. */
  origin: Origin;
  /** Whether the client has closed its connection. */
  hasGone: () => boolean;
};

/** One request to an operation that only the dashboard calls. `caller` is null if the operation has no scope and nobody is signed in. */
export type DashboardCall<S = unknown, I = unknown> = I & {
  /** The database, charged to the caller's account if there is a caller. */
  db: Database;
  caller: Caller | null;
  /** The client's address, from the socket or a trusted proxy. */
  address: string;
  userAgent: string;
  /** The `Cookie` header, if there is one. */
  cookies: string | undefined;
  services: S;
  /** The caller and the request, for the events of its changes. */
  origin: Origin;
  /** In milliseconds since the Unix epoch. */
  now: number;
};

/** `If-Match` and `If-None-Match` of the request, as sent. */
export type Conditions = { ifMatch: string | undefined; ifNoneMatch: string | undefined };

/** The number of changes; a text if the representation also depends on other rows or on the time. */
export type Version = number | string;

export type Answer = {
  status: number;
  body?: unknown;
  /** The body as JSON that is written already. */
  text?: string;
  /** Sends the body piece by piece, once the head is sent, and ends it. */
  stream?: (body: AnswerStream) => void;
  headers?: Record<string, string>;
  /** The version of the resource in the body, sent as its strong ETag. */
  version?: Version;
};

/** The body of an answer that stays open. */
export type AnswerStream = {
  /** Sends text. Returns false if the client reads too slowly; the listeners of `onDrain` are called when it has caught up. */
  write(text: string): boolean;
  end(): void;
  /** Closes the connection at once. */
  destroy(): void;
  onDrain(listener: () => void): void;
  /** Calls the listener when the client has gone, at once if it has gone already, or after `end`. */
  onClose(listener: () => void): void;
};

type Declaration<S> = {
  operationId: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path below `/v1`, as the description shows it: `/pets/{petId}`. */
  path: string;
  tag: string;
  summary: string;
  /** The first part of the description. Agents read it too, so it is short and says nothing of HTTP (specification 1.15). */
  description: string;
  /** The rest, which agents do not need: details of HTTP, and others for people. */
  details?: string;
  /** The scope that the caller must have; null if the operation is open to everyone. */
  scope: string | null;
  /** A second scope that the caller must have. */
  alsoScope?: string;
  stability?: "beta" | "experimental";
  /** Whether agents may call it. Default: true for an operation of the API, and false for one that only the dashboard calls. */
  forAgents?: boolean;
  /**
   * Throws the 403 if the caller may not use the operation now, whatever the request contains. Runs after the check of the
   * scope and before the body is read.
   */
  authorize?: (db: Queryable, caller: Caller, now: number) => Promise<void>;
  /**
   * RFC 9745: `since` is in milliseconds since the Unix epoch, and the `{…}` in `successor` is filled from the path. The app sets when the
   * operation ends, in its `Sunsets`.
   */
  deprecated?: { since: number; successor: string };
  hideTryItPanel?: boolean;
  /**
   * Whether `Prefer: dry-run` is accepted. Such an operation changes nothing outside its transaction: it has no `before` and no `finish`, or a
   * `beforeDryRun` in their place.
   */
  dryRun?: true;
  /** The accepted content types of the body. Default: JSON. */
  mediaTypes?: string[];
  /** Whether a request without a body counts as one with `{}`. */
  isBodyOptional?: true;
  /** The most bytes of a JSON body. Default: 64 KiB; 4 KiB if `scope` is null. */
  bodyBytesMax?: number;
  /**
   * Counts a call by the caller's address before the body is read, and throws the 429 after too many. Required for operations
   * without a scope that take a body.
   */
  throttle?: (services: S, address: string, now: number) => void;
  /** The body is a file, which `before` gets as a stream; `sample` is its name in the code samples. */
  upload?: { mediaTypes: [string, ...string[]]; bytesMax: number; sample: string; description: string };
  /** The values of the example request. */
  example?: { params?: Record<string, Example>; query?: Record<string, Example>; body?: Example };
  answers: Record<number, AnswerDescription>;
  /** The field of its answer that shows a secret, once: what `reveal` adds. */
  secret?: string;
  /** The refusals of this operation, besides those that follow from its form. */
  problems?: ProblemCode[];
};

/** What `before` makes from an uploaded body. A replay of an Idempotency-Key must have the same `fingerprint`. */
export type ReceivedBody = { fingerprint: string };

/**
 * A change: a transaction that awaits only its own queries. `before` does the work that waits for something else (DNS, an uploaded
 * body). `finish` runs after the transaction, whether or not it succeeded, and before the answer.
 */
type Write<C, F, R = F> = {
  write: (tx: Transaction, call: C, prepared: F) => Awaitable<Answer>;
  before?: (db: Database, call: C, body: AsyncIterable<Buffer>) => Promise<R>;
  finish?: (db: Database, call: C, prepared: F) => Promise<void>;
  /** Replaces `before` in a dry run: makes the same from the body, stores nothing, and needs no `finish`. */
  beforeDryRun?: (db: Database, call: C, body: AsyncIterable<Buffer>) => Promise<R>;
  /**
   * Adds the secrets to an answer before it is sent, because the answer of `write` is stored with its Idempotency-Key. Needs a `before` or a
   * `finish`. A dry run shows no secret.
   */
  reveal?: (answer: Answer, call: C, prepared: F) => Answer;
};

/** A change that the database may make for several calls at once. */
type InBatches<C extends object> = { batch: Batch<C, Answer> };

/** A part of a call that has a transaction of its own. Its answer has JSON in its body, because it may be kept. */
export type Step = (tx: Transaction) => Awaitable<Answer>;

/** The steps of one call. */
export type Steps = {
  /** The database, charged to the caller's account. */
  db: Database;
  isDryRun: boolean;
  /**
   * Runs a step, and returns its answer. A dry run rolls it back. Of a call with an Idempotency-Key each step takes effect at most once: a
   * repeated call gets the kept answers of the steps that have run, and runs the others.
   *
   * @param from how much of the call was done before; the same number for the same step when the call is repeated
   */
  run: (from: number, step: Step) => Promise<Answer>;
  /** Returns the problem that the caller sees of an error, and logs the error if it was unexpected. */
  problemOf: (error: unknown) => Problem;
};

/** A change in several transactions. Answers 503 `unavailable` only if none of them has changed anything. */
type InSteps<C> = { steps: (steps: Steps, call: C) => Promise<Answer> };

type AnyInput = { params: never; query: never; body: never };

/** One operation of the API: the single source of its route, its validation, its answers and its description. */
export type Operation<S = unknown> = Declaration<S> & {
  params?: TSchema;
  query?: TSchema;
  body?: TSchema;
} & (
    | { read: (db: Database, call: Call<S, AnyInput>) => Awaitable<Answer>; write?: undefined; steps?: undefined; handle?: undefined }
    | (Write<Call<S, AnyInput>, never, unknown> &
        Partial<InBatches<Call<S, AnyInput>>> & { read?: undefined; steps?: undefined; handle?: undefined })
    | (InSteps<Call<S, AnyInput>> & { read?: undefined; write?: undefined; handle?: undefined })
    | { handle: (call: DashboardCall<S, AnyInput>) => Promise<Answer>; read?: undefined; write?: undefined; steps?: undefined }
  );

/** An operation, whatever services it needs: for code that reads it and does not call it. */
export type DescribedOperation = Operation<never>;

/** When each deprecated operation ends (RFC 8594), by operationId, in milliseconds since the Unix epoch. */
export type Sunsets = Readonly<Record<string, number>>;

/** When a deprecated operation ends. @throws TypeError if the app has not set it */
export function sunsetOf({ operationId }: DescribedOperation, sunsets: Sunsets): number {
  const sunset = sunsets[operationId];
  if (sunset === undefined) throw new TypeError(`${operationId} is deprecated, so it needs a sunset`);
  return sunset;
}

/** How to read the fields of a body: in a PATCH `null` removes a value (RFC 7396), elsewhere it counts as absent. */
export function readingOf({ method }: Pick<DescribedOperation, "method">): CheckOptions {
  return { nullIsAbsent: method !== "PATCH" };
}

type Input<T extends TSchema | undefined> = T extends TSchema ? Static<T> : undefined;

/**
 * Declares an operation, whose handler gets the types of its schemas. `read` gets the database; `write` gets a transaction, in which the
 * answer to an Idempotency-Key is kept too; `batch` gets one transaction for several calls, in place of `write`; `steps` gets several transactions;
 * `handle` manages its own transactions, and its answers, which may contain secrets, are never kept.
 */
export function operation<
  S,
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
  F = unknown,
>(
  declared: Declaration<S> & { params?: P; query?: Q; body?: B } & (
      | { read: (db: Database, call: Call<S, { params: Input<P>; query: Input<Q>; body: Input<B> }>) => Awaitable<Answer> }
      | Write<Call<S, { params: Input<P>; query: Input<Q>; body: Input<B> }>, F>
      | InBatches<Call<S, { params: Input<P>; query: Input<Q>; body: Input<B> }>>
      | InSteps<Call<S, { params: Input<P>; query: Input<Q>; body: Input<B> }>>
      | { handle: (call: DashboardCall<S, { params: Input<P>; query: Input<Q>; body: Input<B> }>) => Promise<Answer> }
    ),
): Operation<S> {
  if (!("batch" in declared)) return declared;
  const { batch } = declared;
  return { ...declared, write: (tx, call) => batchOfOne(batch, call)(tx) };
}

/** One call of an operation that only the operator makes. `body` is its validated input. */
export type OperatorCall<S, B> = Pick<DashboardCall<S>, "db" | "services" | "now"> & { body: B };

/** An operation that only the operator calls, by its name: on the service's socket, or on the data folder. Its answer is a JSON object. */
export type OperatorOperation<S, B, R> = { body: TSchema; handle: (call: OperatorCall<S, B>) => Promise<R> };

/** The operator's operations by name, such as `accounts.create`. */
export type OperatorOperations<S> = Readonly<Record<string, OperatorOperation<S, never, object>>>;

/** Declares an operation of the operator's by the schemas of its input's fields. */
export function operatorOperation<S, P extends Record<string, TSchema>, R>(
  fields: P,
  handle: (call: OperatorCall<S, Static<TObject<P>>>) => Promise<R>,
): OperatorOperation<S, Static<TObject<P>>, R> {
  return { body: Type.Object(fields, { additionalProperties: false }), handle };
}

/** Content types of a JSON merge patch (RFC 7396). The description has the first one alone, because many generators take no more. */
export const mergePatch = ["application/json", "application/merge-patch+json"];

/** A page of a list. */
export function listed(description: string, schema: TSchema, example: Example): AnswerDescription {
  return { description, schema, example, headers: ["Link"] };
}

/** One resource as it stands. */
export function resource(description: string, schema: TSchema, example: Example): AnswerDescription {
  return { description, schema, example, headers: ["ETag"] };
}

/** A resource that did not exist before. */
export function created(description: string, schema: TSchema, example: Example): AnswerDescription {
  return { description, schema, example, headers: ["Location", "ETag"] };
}

/** The answer to a deletion, which has no body. */
export function deleted(description: string): AnswerDescription {
  return { description };
}

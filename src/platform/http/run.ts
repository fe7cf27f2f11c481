import { addressName } from "../addresses.ts";
import type { Clock, NowRange } from "../clock.ts";
import { andThen, type Awaitable, type Database } from "../db/database.ts";
import { operatorOrigin } from "../events.ts";
import { Problem } from "../problem.ts";
import { addressOf, moved, relocated } from "./api-surfaces.ts";
import { bodyBytesMaxOf, streamBody } from "./bodies.ts";
import { originOf, requireScope, unknownCaller, type Caller } from "./caller.ts";
import { changedMeanwhile, etagOf, evaluateRead } from "./conditions.ts";
import { clientAddress, isGone, type Exchange } from "./exchange.ts";
import type { Slot } from "./idempotency.store.ts";
import { hashOf, idempotencyKeyOf, idempotentRunner } from "./idempotency.ts";
import {
  readingOf,
  sunsetOf,
  type Answer,
  type Call,
  type DashboardCall,
  type DescribedOperation,
  type Operation,
  type OperatorOperations,
  type ReceivedBody,
  type Step,
  type Steps,
  type Sunsets,
} from "./operation.ts";
import { asksForDryRun, dryRunApplied, dryRunRefusal } from "./preferences.ts";
import { openSteps } from "./steps.ts";
import { bodyValidator, hasEmptyParameter, notFound, parameterValidator, readQuery } from "./validation.ts";

/** What the operations of an app need to run. */
export type Runtime<S> = {
  db: Database;
  clock: Clock;
  nowRange: () => NowRange;
  /** How long the answer of a request with an Idempotency-Key is kept. */
  answersKeptMs: number;
  /** Called with each unexpected error of a step whose call is answered with the results of its other steps. */
  onError: (exchange: Exchange, error: unknown) => void;
  /** What the operations need besides the database. */
  services: S;
  sunsets: Sunsets;
};

/** An operation that can be called. */
export type Runnable = {
  operation: DescribedOperation;
  /** The most bytes of its body. */
  bytesMax: number;
  run: Run;
};

/**
 * Runs an operation for an exchange that the gate has admitted: checks the caller's scopes, receives the body, validates the input, runs the
 * operation, and evaluates the conditions of a read. Refusals come in the order of specification 1.9. Adds to the headers of the exchange's answer;
 * the route sends the answer. Returns a promise only if it has to wait: for a body, a commit or a server.
 *
 * @param receive returns the parsed JSON body, undefined if there is none. Called once the caller is known to have the scopes
 * @throws the refusal, a Problem, and unexpected errors
 */
type Run = (exchange: Exchange, receive: () => Awaitable<unknown>) => Awaitable<Answer>;

type Change<S> = Extract<Operation<S>, { write: unknown }>;

/** What the operations below a prefix share. */
type Common<S> = {
  runtime: Runtime<S>;
  base: string;
  idempotent: ReturnType<typeof idempotentRunner>;
};

/** Everything about one operation that is the same for all its calls. */
type Compiled<S> = Common<S> & {
  operation: Operation<S>;
  validateParams: ReturnType<typeof parameterValidator> | undefined;
  validateQuery: ReturnType<typeof parameterValidator>;
  validateBody: ReturnType<typeof bodyValidator> | undefined;
  addDeprecation: ((exchange: Exchange, now: number) => void) | undefined;
  /** Undefined if the operation has a dry run. */
  dryRunRefusal: string | undefined;
  bytesMax: number;
};

/** The validated input of a call; `sent` is its body as it was sent. */
type Input = { params: unknown; query: unknown; body: unknown; sent: unknown; key: string | undefined; isDryRun: boolean };

/** A call whose caller may make it, and the time that counts as now. */
type AdmittedCall = { exchange: Exchange; caller: Caller | null; now: number };

/** A call that changes something. */
type ChangeCall<S> = {
  exchange: Exchange;
  call: Call<S, never>;
  /** The database, charged to the caller's account, with the caller as the actor of every change. */
  db: Database;
  isDryRun: boolean;
  sent: unknown;
  /** Where its answer is kept; undefined without an Idempotency-Key, which a dry run ignores. */
  slot: Slot | undefined;
};

/** Opens the operations that are served below a prefix, by their ids. */
export function openOperations<S>(base: string, operations: readonly Operation<S>[], runtime: Runtime<S>): Map<string, Runnable> {
  const common = { runtime, base, idempotent: idempotentRunner(runtime.answersKeptMs) };
  const refusal = dryRunRefusal(operations);
  return new Map(
    operations.map((operation) => {
      const compiled = compile(operation, common, refusal);
      const run: Run = (exchange, receive) => begin(compiled, exchange, receive);
      return [operation.operationId, { operation, bytesMax: compiled.bytesMax, run }];
    }),
  );
}

function compile<S>(operation: Operation<S>, common: Common<S>, refusal: string): Compiled<S> {
  const { runtime, base } = common;
  if (operation.scope === null && operation.body && !operation.throttle) {
    throw new TypeError(`${operation.operationId} reads bodies from anyone, so it needs a throttle`);
  }
  if (operation.dryRun && !operation.steps && !(operation.write && (operation.beforeDryRun || !(operation.before || operation.finish)))) {
    throw new TypeError(`${operation.operationId} does more than its transaction, which is all that a dry run rolls back`);
  }
  if ((operation.write && operation.reveal) === undefined ? operation.secret !== undefined : operation.secret === undefined) {
    throw new TypeError(`${operation.operationId} must declare a secret if it reveals one, and only then`);
  }
  return {
    ...common,
    operation,
    dryRunRefusal: operation.dryRun ? undefined : refusal,
    validateParams: operation.params && parameterValidator(operation.params, "path"),
    validateQuery: parameterValidator(operation.query ?? { type: "object", properties: {} }, "query"),
    validateBody: operation.body && bodyValidator(operation.body, readingOf(operation)),
    addDeprecation: operation.deprecated && deprecationOf(operation.deprecated, sunsetOf(operation, runtime.sunsets), base),
    bytesMax: bodyBytesMaxOf(operation),
  };
}

/** Admits the caller, then receives the body and performs the operation. */
function begin<S>(compiled: Compiled<S>, exchange: Exchange, receive: () => Awaitable<unknown>): Awaitable<Answer> {
  const { operation, runtime } = compiled;
  const now = runtime.clock();
  operation.throttle?.(runtime.services, clientAddress(exchange), now);
  if (operation.params && hasEmptyParameter(exchange.params)) throw notFound();
  compiled.addDeprecation?.(exchange, now);
  const caller = requireScope(exchange, operation.scope);
  if (operation.alsoScope !== undefined) requireScope(exchange, operation.alsoScope);
  const admitted = { exchange, caller, now };
  if (!caller || !operation.authorize) return andThen(receive(), (sent) => perform(compiled, admitted, sent));
  const authorized = operation.authorize(runtime.db.as({ caller: caller.accountId }), caller, now);
  return authorized.then(receive).then((sent) => perform(compiled, admitted, sent));
}

/** Validates the input, and calls the operation. */
function perform<S>(compiled: Compiled<S>, admitted: AdmittedCall, sent: unknown): Awaitable<Answer> {
  const { operation, validateParams, validateQuery, validateBody, base } = compiled;
  const { exchange } = admitted;
  const key =
    operation.method === "POST" && (operation.write ?? operation.steps) ? idempotencyKeyOf(exchange.headers["idempotency-key"]) : undefined;
  const isDryRun = asksForDryRun(exchange.headers["prefer"], compiled.dryRunRefusal);
  if (exchange.keyProblem) throw exchange.keyProblem;
  const params = validateParams?.(exchange.params);
  const query = validateQuery(exchange.query === "" ? nothing : readQuery(exchange.query));
  const body = validateBody?.(operation.isBodyOptional ? (sent ?? {}) : sent, params);
  const answer = execute(compiled, admitted, { params, query, body, sent, key, isDryRun });
  return andThen(answer, (made) => moved(operation.read ? conditional(exchange, made) : made, base));
}

/** The answer to a read whose conditions have been evaluated. @throws Problem `precondition_failed` */
function conditional({ headers }: Exchange, answer: Answer): Answer {
  if (answer.version === undefined) return answer;
  const outcome = evaluateRead(headers, etagOf(answer.version));
  if (outcome === "failed") throw changedMeanwhile();
  if (outcome === "full") return answer;
  return { status: 304, version: answer.version, ...(answer.headers && { headers: answer.headers }) };
}

const nothing: Record<string, never> = {};

function execute<S>(compiled: Compiled<S>, { exchange, caller, now }: AdmittedCall, input: Input): Awaitable<Answer> {
  const { operation, runtime } = compiled;
  const { db, services } = runtime;
  const { params, query, body, sent, key, isDryRun } = input;
  const { headers } = exchange;
  const origin = originOf(caller, exchange.id, now);
  const hasGone = (): boolean => isGone(exchange);
  if (operation.handle) {
    const [address, userAgent] = [clientAddress(exchange), headers["user-agent"] ?? ""];
    const own = db.as({ caller: caller?.accountId ?? addressName(address), origin, isGone: hasGone });
    const call = { params, query, body, db: own, caller, address, userAgent, cookies: headers.cookie, services, origin, now };
    return operation.handle(call as DashboardCall<S, never>);
  }
  if (!caller) throw unknownCaller();
  const { accountId, keyId } = caller;
  const conditions = { ifMatch: headers["if-match"], ifNoneMatch: headers["if-none-match"] };
  const call = { params, query, body, accountId, keyId, conditions, headers, caller, services, now, origin, hasGone } as Call<S, never>;
  if (operation.read) return operation.read(db.as({ caller: accountId }), call);
  const handle = { caller: accountId, origin, isGone: hasGone };
  if (operation.write && operation.batch && !isDryRun && key === undefined) return db.batch(operation.batch, call, handle);

  const own = db.as(handle);
  if (isDryRun) exchange.lines += dryRunApplied;
  const slot = key === undefined || isDryRun ? undefined : { accountId, target: targetOf(compiled, params), key };
  const changing = { exchange, call, db: own, isDryRun, sent, slot };
  if (operation.steps) return operation.steps(stepsOf(compiled, changing), call);
  const make = (): Promise<Answer> => runWrite(compiled, operation, changing);
  return slot && operation.upload ? compiled.idempotent.prepareOnce(own, slot, runtime.nowRange(), make, hasGone) : make();
}

/**
 * Runs a transaction of a call. A dry run rolls it back. With an Idempotency-Key it takes effect once: a repeated call gets the kept answer.
 *
 * @param place tells the transactions of one call apart; empty for the first
 */
function transact<S>(
  { runtime, idempotent }: Compiled<S>,
  { exchange, db, isDryRun, slot }: ChangeCall<S>,
  hash: () => string,
  step: Step,
  place = "",
) {
  if (!slot) return db.write(step, { isDryRun });
  return idempotent.run(db, { ...slot, target: slot.target + place }, hash(), runtime.nowRange(), step, () => isGone(exchange));
}

function stepsOf<S>(compiled: Compiled<S>, changing: ChangeCall<S>): Steps {
  const { exchange, db, isDryRun, sent } = changing;
  return openSteps({
    db,
    isDryRun,
    transact: (step, place) => transact(compiled, changing, () => hashOf(sent), step, place),
    onError: (error) => compiled.runtime.onError(exchange, error),
  });
}

async function runWrite<S>(compiled: Compiled<S>, operation: Change<S>, changing: ChangeCall<S>): Promise<Answer> {
  const { before, beforeDryRun, write, finish, reveal, upload } = operation;
  const { exchange, call, db, isDryRun, sent } = changing;
  const prepare = isDryRun ? beforeDryRun : before;
  const prepared = (await prepare?.(db, call, streamBody(exchange.request, compiled.bytesMax))) as never;
  try {
    const hash = (): string => hashOf(upload ? (prepared as ReceivedBody).fingerprint : sent);
    const answer = await transact(compiled, changing, hash, (tx) => write(tx, call, prepared));
    return isDryRun ? answer : (reveal?.(answer, call, prepared) ?? answer);
  } finally {
    if (!isDryRun) await finish?.(db, call, prepared);
  }
}

/** Adds `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the successor to an answer; refuses the request after the sunset. */
function deprecationOf({ since, successor }: NonNullable<DescribedOperation["deprecated"]>, sunset: number, base: string) {
  const end = new Date(sunset).toUTCString();
  const [before = "", name = "", after = ""] = relocated(addressOf(successor), base).split(/\{(\w+)\}/);
  const lines = `Deprecation: @${Math.floor(since / 1000)}\r\nSunset: ${end}\r\n`;

  return (exchange: Exchange, now: number): void => {
    const value = exchange.params[name] ?? "";
    const link = before + encodeURIComponent(value.toWellFormed()) + after;
    exchange.lines += `${lines}Link: <${link}>; rel="successor-version"\r\n`;
    if (now >= sunset) throw new Problem("operation_sunset", `This operation ended on ${end}. Its successor: ${link}`);
  };
}

/** The method and path of a request in its one canonical spelling. */
function targetOf<S>({ operation: { method, path }, base }: Compiled<S>, params: unknown): string {
  const values = params as Record<string, unknown> | undefined;
  return `${method} ${base}${path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => String(values?.[name]))}`;
}

/** The functions that call an operator's operations. */
export type OperatorCalls<O extends OperatorOperations<never>> = {
  readonly [K in keyof O]: (input: unknown) => ReturnType<O[K]["handle"]>;
};

/**
 * Opens the operator's operations. Each validates its input as a body, and names a field without `body.` in a refusal.
 */
export function openOperatorOperations<S, O extends OperatorOperations<S>>(
  operations: O,
  { db, clock, services }: Pick<Runtime<S>, "db" | "clock" | "services">,
): OperatorCalls<O> {
  const acting = db.as({ origin: operatorOrigin });
  const calls = Object.entries(operations).map(([name, { body, handle }]) => {
    const validate = bodyValidator(body);
    return [name, async (input: unknown) => handle({ body: fieldsOf(validate, input) as never, db: acting, services, now: clock() })];
  });
  return Object.fromEntries(calls) as OperatorCalls<O>;
}

function fieldsOf(validate: ReturnType<typeof bodyValidator>, input: unknown): unknown {
  try {
    return validate(input);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, message, details } = error;
    throw new Problem(code, message.replace(/^body\./, ""), details && { details });
  }
}

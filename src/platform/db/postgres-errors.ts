import { Problem } from "../problem.ts";
import { ConstraintError, unavailable, type ConstraintKind } from "./database.ts";

/** PostgreSQL's code for an error (SQLSTATE), or Node's for a connection (`ECONNREFUSED`). */
type DriverError = { code?: string; message?: string; routine?: string };

/** The server answered and refuses these credentials, this database or these rights, so a retry does not help. The message is one line without the password. */
export class AccessError extends Error {}

const constraintKinds: Record<string, ConstraintKind> = { "23505": "unique", "23503": "foreign_key", "23514": "check" };
/** Two transactions collided. The body may succeed when it runs again. */
const collisions = new Set(["40001", "40P01"]);
/**
 * Errors that the caller did not cause: 08 connection, 25006 read-only (a standby after a failover), 53 resources, 55P03 and
 * 57014 timeout, 57P0x shutdown, 58 system, 26000 a statement that the connection lost; XX: the server's own failure.
 */
const unavailableStates = /^(08|53|58|XX|25006|25P0[34]|26000|55P03|57014|57P0)/;
/**
 * A standby refuses `BEGIN READ WRITE`. Its code, 0A000, is that of other errors too, and the message may be translated: this function reports what the check of a
 * setting that is on or off found.
 */
const isStandby = ({ code, routine }: DriverError): boolean => code === "0A000" && routine === "call_bool_check_hook";
/** Errors of a write that the server cannot store: 53 resources (53100 disk full), 58 system (58030 I/O error), 25006 read-only. */
const unwritableStates = /^(53[1-4]|58|25006)/;
/** 28: credentials; 3D000: no such database; 42501: rights. */
const accessStates = /^(28|3D000|42501)/;
/** A value that PostgreSQL cannot store: text with a NUL, a number beyond its type. */
const valueStates = /^22/;
const connectionCodes = /^(E(CONN|PIPE|TIMEDOUT|HOST|NET|AI_)|ENOTFOUND|ENOENT|ERR_(STREAM|SOCKET))/;
/** Messages of the driver, whose errors have no code. */
const driverTexts = /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded|Client (was closed|has encountered))/;
/** Messages of the driver and of poolers, whose errors have no code or only that of a broken protocol. */
const serverText = /does not support SSL|certificate|password must be|unsupported startup parameter|^no such (user|database)/i;

/** Thrown to run a transaction's body again without the locks that it holds. */
export class StartOver extends Error {}

/**
 * Whether a statement was prepared before a migration added a column to its table, as happens while nodes are replaced. From then on
 * PostgreSQL refuses the statement on this connection.
 */
export function isOutdated(error: unknown): boolean {
  const { code, message = "" } = error as DriverError;
  return code === "0A000" && message.startsWith("cached plan");
}

/** Whether a transaction that failed with this error may run again. */
export function isCollision(error: unknown): boolean {
  return error instanceof StartOver || collisions.has((error as DriverError).code ?? "") || isOutdated(error);
}

/** Whether a connection on which this error occurred must not be used again. */
export function breaksConnection(error: unknown): boolean {
  const { code = "", message = "" } = error as DriverError;
  return /^(08|57P0|25006|25P0[34]|26000|XX)/.test(code) || connectionCodes.test(code) || driverTexts.test(message) || isOutdated(error);
}

/** The error of the server because of which it cannot store a write; undefined if a write failed for another reason. */
export function unwritableErrorOf(error: unknown): Error | undefined {
  const { cause } = error as Error;
  return [error, cause].find((one): one is Error => one instanceof Error && unwritableStates.test((one as DriverError).code ?? ""));
}

/** Whether the server had no room for a write. */
export function isFullDisk(error: unknown): boolean {
  return (error as DriverError | undefined)?.code === "53100";
}

/** Translates an error of a statement to a `ConstraintError` or a `Problem`; returns unexpected errors unchanged. */
export function translate(error: unknown): unknown {
  if (error instanceof Problem || error instanceof ConstraintError) return error;
  const { code = "", message = "" } = error as DriverError;
  const kind = constraintKinds[code];
  if (kind) return new ConstraintError(kind, { cause: error });
  if (valueStates.test(code)) return unstorable(error);
  const isUnavailable =
    isCollision(error) ||
    unavailableStates.test(code) ||
    connectionCodes.test(code) ||
    driverTexts.test(message) ||
    isStandby(error as DriverError);
  return isUnavailable ? unavailable(error) : error;
}

function unstorable(cause: unknown): Problem {
  const details = [{ path: "request", message: "holds a value that cannot be stored" }];
  return new Problem("invalid_request", "The request holds a value that cannot be stored.", { details, cause });
}

/** A server that answers, and that the service cannot use. The message follows the server's address. */
export class UnusableServer extends Error {
  /** Whether a retry does not help. */
  readonly isLasting: boolean;
  constructor(message: string, { isLasting }: { isLasting: boolean }) {
    super(message);
    this.isLasting = isLasting;
  }
}

/** Why a server cannot be used. */
export type ConnectingFailure = { server: string; error: unknown };

/** Translates the errors of connecting to each server to one `unavailable`, with an `AccessError` as its cause if a retry does not help. */
export function translateConnecting(failures: readonly ConnectingFailure[]): Problem {
  const found = failures.map(({ server, error }) => ({ ...reasonOf(error), server }));
  const lines = found.map(({ server, text }) => `PostgreSQL at ${server} ${text}`);
  const isLasting = found.some(({ kind }) => kind === "refuses") && found.every(({ kind }) => kind !== "away");
  const options = { cause: failures[0]?.error };
  return unavailable(isLasting ? new AccessError(lines.join("; "), options) : new Error(lines.join("; "), options));
}

function reasonOf(error: unknown): { kind: "refuses" | "standby" | "away"; text: string } {
  const { code = "", message = "" } = error as DriverError;
  if (error instanceof UnusableServer) return { kind: error.isLasting ? "refuses" : "standby", text: message };
  if (accessStates.test(code) || serverText.test(message) || /^(ERR_TLS|CERT_|DEPTH_|SELF_|UNABLE_TO_)/.test(code))
    return { kind: "refuses", text: `refuses: ${message}` };
  return { kind: "away", text: `does not answer: ${message || code}` };
}

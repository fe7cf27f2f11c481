import { Problem } from "../problem.ts";
import { ConstraintError, unavailable, type ConstraintKind } from "./database.ts";

/** PostgreSQL's code for an error (SQLSTATE), or Node's for a connection (`ECONNREFUSED`). */
type DriverError = { code?: string; message?: string };

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
/** 28: credentials; 3D000: no such database; 42501: rights. */
const accessStates = /^(28|3D000|42501)/;
/** A value that PostgreSQL cannot store: text with a NUL, a number beyond its type. */
const valueStates = /^22/;
const connectionCodes = /^(E(CONN|PIPE|TIMEDOUT|HOST|NET|AI_)|ENOTFOUND|ENOENT|ERR_(STREAM|SOCKET))/;
/** Messages of the driver, whose errors have no code. */
const driverTexts = /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded|Client (was closed|has encountered))/;
const serverText = /does not support SSL|certificate|password must be/i;

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

/** Translates an error of a statement to a `ConstraintError` or a `Problem`; returns unexpected errors unchanged. */
export function translate(error: unknown): unknown {
  if (error instanceof Problem || error instanceof ConstraintError) return error;
  const { code = "", message = "" } = error as DriverError;
  const kind = constraintKinds[code];
  if (kind) return new ConstraintError(kind, { cause: error });
  if (valueStates.test(code)) return unstorable(error);
  const isUnavailable = isCollision(error) || unavailableStates.test(code) || connectionCodes.test(code) || driverTexts.test(message);
  return isUnavailable ? unavailable(error) : error;
}

function unstorable(cause: unknown): Problem {
  const details = [{ path: "request", message: "holds a value that cannot be stored" }];
  return new Problem("invalid_request", "The request holds a value that cannot be stored.", { details, cause });
}

/** Translates an error of connecting to `unavailable`, with an `AccessError` as its cause if a retry does not help. */
export function translateConnecting(error: unknown, server: string): Problem {
  const { code = "", message = "" } = error as DriverError;
  if (accessStates.test(code) || serverText.test(message) || /^(ERR_TLS|CERT_|DEPTH_|SELF_|UNABLE_TO_)/.test(code)) {
    return unavailable(new AccessError(`PostgreSQL at ${server} refuses: ${message}`, { cause: error }));
  }
  return unavailable(new Error(`PostgreSQL at ${server} does not answer: ${message || code}`, { cause: error }));
}

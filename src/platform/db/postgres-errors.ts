import { Problem } from "../problem.ts";
import { ConstraintError, type ConstraintKind } from "./database.ts";
import { unavailable } from "./unavailable.ts";

/** What PostgreSQL says of an error (SQLSTATE), or Node of a connection (`ECONNREFUSED`). */
type Coded = { code?: string; message?: string };

/** The server was reached and lets nobody in as is asked: trying again does not help. The message is one line without the password. */
export class AccessError extends Error {}

const constraintKinds: Record<string, ConstraintKind> = { "23505": "unique", "23503": "foreign_key", "23514": "check" };
/** Two transactions stood in each other's way: run again, the body may pass. */
const collisions = new Set(["40001", "40P01"]);
/**
 * Nothing that the caller did: 08 connection, 25006 read-only (a standby after a failover), 53 resources, 55P03 and
 * 57014 out of time, 57P0x shutdown, 58 system, 26000 a statement that the connection lost; XX: the server's own failure.
 */
const unavailableStates = /^(08|53|58|XX|25006|25P0[34]|26000|55P03|57014|57P0)/;
/** 28: credentials; 3D000: no such database; 42501: rights. */
const accessStates = /^(28|3D000|42501)/;
/** A value that PostgreSQL cannot hold: text with a NUL, a number beyond its type. */
const valueStates = /^22/;
const connectionCodes = /^(E(CONN|PIPE|TIMEDOUT|HOST|NET|AI_)|ENOTFOUND|ENOENT|ERR_(STREAM|SOCKET))/;
/** Of the driver, which gives these no code. */
const driverTexts = /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded|Client (was closed|has encountered))/;
const serverText = /does not support SSL|certificate|password must be/i;

/** Thrown to run a transaction's body again without the locks that it holds. */
export class StartOver extends Error {}

/** Whether a transaction that met this error may be run again. */
export function isCollision(error: unknown): boolean {
  return error instanceof StartOver || collisions.has((error as Coded).code ?? "");
}

/** Whether a connection that met this error must not be used again. */
export function breaksConnection(error: unknown): boolean {
  const { code = "", message = "" } = error as Coded;
  return /^(08|57P0|25006|25P0[34]|26000|XX)/.test(code) || connectionCodes.test(code) || driverTexts.test(message);
}

/** An error of a statement as the port's: `ConstraintError`, or a `Problem`, or itself where it is unexpected. */
export function translate(error: unknown): unknown {
  if (error instanceof Problem || error instanceof ConstraintError) return error;
  const { code = "", message = "" } = error as Coded;
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

/** An error of connecting: always `unavailable`, with an `AccessError` as its cause where trying again does not help. */
export function translateConnecting(error: unknown, server: string): Problem {
  const { code = "", message = "" } = error as Coded;
  if (accessStates.test(code) || serverText.test(message) || /^(ERR_TLS|CERT_|DEPTH_|SELF_|UNABLE_TO_)/.test(code)) {
    return unavailable(new AccessError(`PostgreSQL at ${server} refuses: ${message}`, { cause: error }));
  }
  return unavailable(new Error(`PostgreSQL at ${server} does not answer: ${message || code}`, { cause: error }));
}

import type { Attempted } from "../events/webhooks/attempts.ts";
import type { Database } from "../platform/db/database.ts";
import type { Exchange } from "../platform/http/exchange.ts";
import { loggedPath } from "../platform/logged-path.ts";
import type { Visit } from "../publishing/edge/visits.ts";

// The names of OpenTelemetry's semantic conventions for HTTP servers, database clients and messaging. Attributes without a name there
// begin with `petstore.`. Queries, addresses of clients and endpoints, and user agents are left out: they may hold secrets or say who somebody is.

export type Attribute = { key: string; value: { stringValue: string } | { intValue: string } };

/** The methods that the conventions know. With others, clients could make any number of span names. */
const methods = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]);
const systems = { sqlite: "sqlite", postgres: "postgresql" } as const;

/** The name of the span of a request: its method, and the template of its path if a route has it. */
export function spanName(method: string, template?: string): string {
  const known = methods.has(method) ? method : "HTTP";
  return template === undefined ? known : `${known} ${template}`;
}

export function requestAttributes({ request, method, route, template, url, status, id, caller }: Exchange): Attribute[] {
  return [
    ...methodAttributes(method),
    ...(template === undefined ? [] : [text("http.route", template)]),
    text("url.scheme", "encrypted" in request.socket ? "https" : "http"),
    text("url.path", loggedPath(url)),
    ...answerAttributes(status),
    text("network.protocol.version", request.httpVersion),
    text("petstore.operation", route.name),
    text("petstore.request_id", id),
    ...(caller ? [whole("petstore.account_id", caller.accountId)] : []),
  ];
}

export function visitAttributes({ host, method, url, status, id, isCut, protocol, scheme }: Visit): Attribute[] {
  return [
    ...methodAttributes(method),
    ...(host === undefined ? [] : [text("server.address", host)]),
    text("url.scheme", scheme),
    text("url.path", loggedPath(url)),
    ...answerAttributes(status, isCut ? "cut" : undefined),
    text("network.protocol.version", protocol === "h2" ? "2" : "1.1"),
    text("petstore.request_id", id),
  ];
}

/** @param problem why it failed */
export function databaseAttributes(engine: Database["engine"], operation: string, problem?: string): Attribute[] {
  return [text("db.system.name", systems[engine]), text("db.operation.name", operation), ...errorAttributes(problem)];
}

/** Of a call to Redis, DNS or the certificate authority. */
export function callAttributes(system: string, name: string, problem?: string): Attribute[] {
  const names = system === "redis" ? [text("db.system.name", system), text("db.operation.name", name)] : [text("petstore.system", system)];
  return [...names, ...errorAttributes(problem)];
}

export function deliveryAttributes({ accountId, webhookId, messageId, requestId, type, status, isDelivered }: Attempted): Attribute[] {
  return [
    text("messaging.system", "webhook"),
    text("messaging.operation.name", "send"),
    text("messaging.operation.type", "send"),
    text("messaging.destination.name", `webhook/${webhookId}`),
    text("messaging.message.id", messageId),
    text("petstore.event_type", type),
    whole("petstore.account_id", accountId),
    whole("petstore.webhook_id", webhookId),
    ...(requestId === null ? [] : [text("petstore.request_id", requestId)]),
    ...(status === null ? [] : [whole("http.response.status_code", status)]),
    ...errorAttributes(isDelivered ? undefined : status === null ? "no_answer" : String(status)),
  ];
}

function methodAttributes(method: string): Attribute[] {
  if (methods.has(method)) return [text("http.request.method", method)];
  return [text("http.request.method", "_OTHER"), text("http.request.method_original", method)];
}

function answerAttributes(status: number, problem = status >= 500 ? String(status) : undefined): Attribute[] {
  return [whole("http.response.status_code", status), ...errorAttributes(problem)];
}

function errorAttributes(problem: string | undefined): Attribute[] {
  return problem === undefined ? [] : [text("error.type", problem)];
}

export function text(key: string, value: string): Attribute {
  return { key, value: { stringValue: value } };
}

function whole(key: string, value: number): Attribute {
  return { key, value: { intValue: String(value) } };
}

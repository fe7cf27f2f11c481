import { formatDateTime } from "../../platform/http/dates.ts";
import { operation, type Operation } from "../../platform/http/operation.ts";
import { limitDefault } from "../../platform/http/paging.ts";
import { Type } from "../../platform/json-schema.ts";
import { readRequests } from "./request-log.store.ts";
import type { UsageServices } from "./usage.routes.ts";

const classes = ["2xx", "3xx", "4xx", "5xx"] as const;

const RequestQuery = Type.Object({
  keyId: Type.Optional(Type.Integer({ format: "int64", minimum: 1, description: "Only requests with this key." })),
  status: Type.Optional(
    Type.Unsafe<(typeof classes)[number]>({ type: "string", enum: [...classes], description: "Only answers of this class." }),
  ),
  before: Type.Optional(
    Type.Integer({ format: "int64", minimum: 1, description: "Only requests before this position: `next` of the page before." }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: limitDefault, description: "The most requests to return." })),
});

const RequestPage = Type.Object({
  requests: Type.Array(
    Type.Object({
      position: Type.Integer({ format: "int64" }),
      at: Type.String({ format: "date-time" }),
      keyId: Type.Integer({ format: "int64" }),
      method: Type.String(),
      route: Type.Unsafe<string | null>({ type: "string", nullable: true, description: "Null for a path that does not exist." }),
      status: Type.Integer(),
    }),
  ),
  next: Type.Unsafe<number | null>({
    type: "integer",
    format: "int64",
    nullable: true,
    description: "`before` of the next page; null at the end.",
  }),
});

/** The last requests with the account's keys, for developers. */
export const requestLogRoutes: Operation<UsageServices>[] = [
  operation({
    operationId: "listRequests",
    method: "GET",
    path: "/requests",
    tag: "Account",
    summary: "List the last requests",
    description: "The last requests with the account's keys that pass all given filters, the newest first.",
    scope: "account:read",
    query: RequestQuery,
    answers: { 200: { description: "The requests.", schema: RequestPage } },
    read: async (db, { accountId, query, services }) => {
      await services.flushUsage();
      const { keyId, status, before, limit = limitDefault } = query;
      const statusClass = status === undefined ? undefined : Number(status[0]);
      const rows = await readRequests(db, accountId, { keyId, statusClass }, before, limit);
      const page = rows.slice(0, limit);
      const requests = page.map(([position, itsKeyId, method, route, itsStatus]) => {
        const at = formatDateTime(Math.floor(position / 1_000));
        return { position, at, keyId: itsKeyId, method, route, status: itsStatus };
      });
      return { status: 200, body: { requests, next: rows.length > limit ? page.at(-1)![0] : null } };
    },
  }),
];

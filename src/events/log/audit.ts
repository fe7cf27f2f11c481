import { type EventType, eventTypes } from "../../platform/event-types.ts";
import { parseDateTime } from "../../platform/http/dates.ts";
import { DateTime } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import { eventTypesOf, types } from "./events.ts";
import { NamedEvent } from "./named-events.ts";

/** The event types of the audit: changes of access, plan, sites and webhooks. These events are kept longest. */
export const auditTypes = eventTypes.filter((type) =>
  /^(key|member|account|limit|webhook|project|deployment|domain|certificate)\./.test(type),
);

/** Default of `types`: `auditTypes`. */
export const auditFilters = {
  types: Type.Optional(types),
  actor: Type.Optional(
    Type.String({ pattern: "^((key|member)/[1-9][0-9]{0,14}|operator|system)$", maxLength: 30, description: "Who did it: `member/3`." }),
  ),
  resource: Type.Optional(
    Type.String({ pattern: "^[a-z]{1,20}/[0-9A-Za-z.-]{1,253}$", maxLength: 274, description: "To what: `domain/www.example.com`." }),
  ),
  requestId: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: "The `X-Request-Id` of the request that did it." })),
  from: Type.Optional(DateTime("Not before this time.")),
  to: Type.Optional(DateTime("Before this time.")),
};

export const AuditQuery = Type.Object({
  ...auditFilters,
  before: Type.Optional(
    Type.Integer({ format: "int64", minimum: 1, description: "Only events before this position: `next` of the page before." }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: "The most events to return." })),
});
export const ExportQuery = Type.Object(auditFilters);

export const AuditPage = Type.Object({
  events: Type.Array(NamedEvent),
  next: Type.Unsafe<number | null>({
    type: "integer",
    format: "int64",
    nullable: true,
    description: "`before` of the next page; null at the end. A page may have few events or none and still have a next one.",
  }),
});

/** Which events an audit shows. Times in ms since the Unix epoch. */
export type AuditFilter = {
  types: readonly EventType[];
  actor: string | undefined;
  resource: string | undefined;
  requestId: string | undefined;
  from: number | undefined;
  to: number | undefined;
};

type AuditFilters = Static<typeof ExportQuery>;

export function filterOf({ types: asked, actor, resource, requestId, from, to }: AuditFilters): AuditFilter {
  const time = (text: string | undefined) => (text === undefined ? undefined : parseDateTime(text));
  return { types: eventTypesOf(asked) ?? auditTypes, actor, resource, requestId, from: time(from), to: time(to) };
}

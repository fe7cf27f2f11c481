import { choiceIn, idIn, present, textIn } from "../parts/search-values.ts";

/** The kinds of events that the filter offers, with the types of each. `shop` has none, because it is the service's default. */
export const kinds = {
  shop: undefined,
  everything:
    "member.*,key.*,account.*,limit.*,webhook.*,project.*,deployment.*,domain.*,certificate.*,pet.*,category.*,order.*,reservation.*,inventory.*,import.*",
  member: "member.*",
  key: "key.*",
  plan: "account.*,limit.*",
  webhook: "webhook.*",
  project: "project.*",
  deployment: "deployment.*",
  domain: "domain.*",
  certificate: "certificate.*",
  pet: "pet.*",
  category: "category.*",
  order: "order.*",
  reservation: "reservation.*",
  inventory: "inventory.*",
  import: "import.*",
} as const;

export type Kind = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as Kind[];

/** The filters of the page. `from` and `to` are the first and the last day, in the reader's time zone. */
export type ActivityFilters = { who?: string; kind?: Kind; from?: string; to?: string; request?: string };
/** The search parameters of the page: the filters, and the position of the open event. */
export type ActivitySearch = ActivityFilters & { event?: number };

const actorPattern = /^(?:(?:key|member)\/[1-9][0-9]{0,14}|operator|system)$/;
const requestIdMax = 128;

export function activitySearch(search: Record<string, unknown>): ActivitySearch {
  const who = textIn(search["who"]);
  return present({
    who: who !== undefined && actorPattern.test(who) ? who : undefined,
    kind: choiceIn(kindNames, search["kind"]),
    from: dayIn(search["from"]),
    to: dayIn(search["to"]),
    request: textIn(search["request"], requestIdMax),
    event: idIn(search["event"]),
  });
}

export function filtersOf({ event: _event, ...filters }: ActivitySearch): ActivityFilters {
  return filters;
}

/** A day such as `2026-11-23`, of a year from 2000 to 2999. */
export function dayIn(value: unknown): string | undefined {
  if (typeof value !== "string" || !/^2[0-9]{3}-[0-9]{2}-[0-9]{2}$/.test(value)) return undefined;
  const day = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value) ? value : undefined;
}

/** Returns the query of a call to the service with these filters. */
export function queryOf({ who, kind, from, to, request }: ActivityFilters): URLSearchParams {
  const types = kinds[kind ?? "shop"];
  const values = { types, actor: who, requestId: request, from: from && startOf(from), to: to && startOf(to, 1) };
  return new URLSearchParams(present(values));
}

/** Returns when a day, or the day `later` days after it, begins in the reader's time zone. */
function startOf(day: string, later = 0): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + later).toISOString();
}

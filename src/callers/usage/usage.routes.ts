import { formatDateTime } from "../../platform/http/dates.ts";
import { operation, type Operation } from "../../platform/http/operation.ts";
import { readStorage } from "../../platform/storage-quotas.ts";
import { storageExample } from "../accounts/accounts.ts";
import { readUsage, readUsageBy, type Point } from "./usage.store.ts";
import { spanOf, Usage, UsageQuery, type Counts, type Kind } from "./usage.ts";

const example = {
  interval: "hour",
  from: "2026-12-17T11:00:00Z",
  to: "2026-12-24T11:00:00Z",
  points: [{ start: "2026-12-24T10:00:00Z", requests: 17, refused: 0, banned: 0 }],
  ...storageExample,
  groups: [
    {
      keyId: 1,
      requests: 17,
      refused: 0,
      banned: 0,
      points: [{ start: "2026-12-24T10:00:00Z", requests: 17, refused: 0, banned: 0 }],
    },
  ],
};

/** `flushUsage` stores what this process has counted, so that the answer includes it. */
export type UsageServices = { flushUsage: () => Promise<void> };

export const usageRoutes: Operation<UsageServices>[] = [
  operation({
    operationId: "getUsage",
    method: "GET",
    path: "/usage",
    tag: "Account",
    summary: "Get the usage",
    description:
      "The account's requests over time, including this one; with `groupBy` also those of each key or operation. Also shows what the account stores now.",
    details:
      "Refused requests are counted separately. Requests of the last few seconds on other nodes may be missing. Counts as a request.",
    scope: "account:read",
    query: UsageQuery,
    example: { query: { interval: "hour", groupBy: "key" } },
    answers: { 200: { description: "The requests, by interval.", schema: Usage, example } },
    read: async (db, { accountId, query, now, services }) => {
      await services.flushUsage();
      const { interval = "hour", groupBy = "none" } = query;
      const { from, to } = spanOf(interval, now);
      const points = (await readUsage(db, accountId, interval, now)).map(pointResponse);
      const storage = await readStorage(db, accountId);
      const groups = groupBy === "none" ? {} : { groups: grouped(groupBy, await readUsageBy(db, groupBy, accountId, interval, now)) };
      return { status: 200, body: { interval, from: formatDateTime(from), to: formatDateTime(to), points, ...storage, ...groups } };
    },
  }),
];

function grouped(kind: Kind, rows: (Point & { name: string })[]) {
  const groups = [...Map.groupBy(rows, ({ name }) => name)].map(([name, points]) => ({
    ...(kind === "key" ? { keyId: Number(name) } : { operation: name }),
    requests: sum(points, "requests"),
    refused: sum(points, "refused"),
    banned: sum(points, "banned"),
    points: points.map(pointResponse),
  }));
  const total = ({ requests, refused, banned }: Counts) => requests + refused + banned;
  return groups.toSorted((a, b) => total(b) - total(a));
}

function sum(points: Counts[], field: keyof Counts): number {
  return points.reduce((total, point) => total + point[field], 0);
}

function pointResponse({ start, requests, refused, banned }: Point) {
  return { start: formatDateTime(start), requests, refused, banned };
}

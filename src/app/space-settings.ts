import { integer } from "../platform/parse.ts";
import { setting } from "./setting.ts";

const hourMs = 3_600_000;

/** How long the service keeps data that would otherwise grow without end. */
export const spaceSettings = {
  usageDaysKept: setting({
    name: "KEEP_USAGE_DAYS",
    fallback: "90",
    parse: integer(1, 3_650),
    allowed: "days from 1 to 3650",
    meaning: "How long the counts of requests are kept; GET /usage shows at most the last 90 days",
  }),
  eventDaysKept: setting({
    name: "KEEP_EVENT_DAYS",
    fallback: "30",
    parse: integer(1, 3_650),
    allowed: "days from 1 to 3650",
    meaning: "How long events are kept",
  }),
  auditDaysKept: setting({
    name: "KEEP_AUDIT_DAYS",
    fallback: "365",
    parse: integer(1, 3_650),
    allowed: "days from 1 to 3650",
    meaning: "How long events of keys, members, the account, sites and webhooks are kept for the audit",
  }),
  answersKeptMs: setting({
    name: "KEEP_IDEMPOTENCY_HOURS",
    fallback: "24",
    parse: (text) => {
      const hours = integer(24, 720)(text);
      return hours === undefined ? undefined : hours * hourMs;
    },
    allowed: "hours from 24 to 720",
    meaning: "How long a request with an Idempotency-Key can be sent again for its first answer",
  }),
  deploymentsKept: setting({
    name: "KEEP_DEPLOYMENTS",
    fallback: "10",
    parse: integer(2, 1_000),
    allowed: "a number from 2 to 1000",
    meaning: "Deployments of each project that are kept, the one that is served included",
  }),
};

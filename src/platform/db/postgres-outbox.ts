import type { RecordedEvent } from "../events.ts";
import type { Statement } from "./postgres-statements.ts";

const columns = {
  account_id: "BIGINT",
  type: "TEXT",
  at: "BIGINT",
  resource: "TEXT",
  actor: "TEXT",
  request_id: "TEXT",
  version: "BIGINT",
  head: "TEXT",
  tail: "TEXT",
};
const names = Object.keys(columns).join(", ");
const typed = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
const text = `
  INSERT INTO event_outbox (id, ${names})
  SELECT nextval('event_outbox_ids'), ${names} FROM json_to_recordset(CAST($1 AS JSON)) AS recorded (${typed.join(", ")})`;

/** The statement that stores a transaction's events until they get their positions. It is the transaction's last one (decision 0074). */
export function outboxInsert(events: readonly RecordedEvent[]): Statement {
  const rows = events.map(({ accountId, requestId, ...event }) => ({ account_id: accountId, request_id: requestId, ...event }));
  return { name: "event_outbox", text, values: [JSON.stringify(rows)] };
}

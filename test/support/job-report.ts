import type { EventData } from "node:test";

type Reported = { type: "test:fail"; data: Partial<EventData.TestFail> } | { type: "test:summary"; data: EventData.TestSummary };

/** A reporter for `jobs.ts`: a line with the path of the file of each test that fails, and a last one with the counts as JSON. */
export default async function* jobReport(events: AsyncIterable<Reported>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type === "test:fail" && data.file !== undefined) yield `${data.file}\n`;
    if (type === "test:summary" && data.file === undefined) {
      const { tests, passed, skipped } = data.counts;
      yield `${JSON.stringify({ tests, passed, skipped })}\n`;
    }
  }
}

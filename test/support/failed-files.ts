import type { EventData } from "node:test";

type Reported = { type: string; data: Partial<EventData.TestFail> };

/** A reporter that writes the path of the file of each test that fails, one a line. */
export default async function* failedFiles(events: AsyncIterable<Reported>): AsyncGenerator<string> {
  for await (const { type, data } of events) if (type === "test:fail" && data.file !== undefined) yield `${data.file}\n`;
}

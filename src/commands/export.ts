import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { exportedLists, exportText, type ExportFormat } from "../importing/exporting.ts";
import { Problem } from "../platform/problem.ts";
import { UsageError, type Command } from "./command.ts";
import { toFile } from "./file-output.ts";
import { connect, connectionOf, connectionOptions, linesTo, type Environment } from "./connection.ts";

/** Creates the command. `environment` returns the service and key to use if the options name none. */
export function exporting(environment: Environment): Command {
  return {
    name: "export",
    summary: "Write a list as CSV or as JSON lines",
    options: {
      format: {
        value: "csv|ndjson",
        about: "CSV, or one JSON object per line. Default: csv; with --json and no --out: one object with the list",
      },
      out: { value: "FILE", about: "write to a file, which appears only when complete. Default: standard output, as -" },
      ...connectionOptions,
    },
    operands: [Object.keys(exportedLists).join("|")],
    async run({ options, operands: [name = ""], json }, io) {
      const list = Object.hasOwn(exportedLists, name) ? exportedLists[name as keyof typeof exportedLists] : undefined;
      if (list === undefined)
        throw new Problem("invalid_request", `${JSON.stringify(name)} is not one of ${Object.keys(exportedLists).join(", ")}`);
      const { pages } = await import("../../client/pages.ts");
      const file = options["out"] === "-" ? undefined : (options["out"] as string | undefined);
      if (json && file === undefined && options["format"] !== undefined)
        throw new UsageError("--json prints one JSON object: leave out --format, or write to a file with --out");
      const format = json && file === undefined ? "json" : formatOf(options["format"] ?? "csv");
      const client = await connect(connectionOf(options, environment(io)), linesTo(io));
      let rows = 0;
      const counted = counting(pages(client, list.path), (length) => (rows += length));
      const text = Readable.from(format === "json" ? jsonText(name, counted) : exportText(counted, format, list.columns));
      if (file === undefined) {
        await pipeline(text, io.stdout, { end: false });
        return undefined;
      }
      await toFile(text, file);
      return json ? { json: { list: name, format, file, rows }, text: "" } : undefined;
    },
  };
}

async function* counting<T>(pages: AsyncIterable<T[]>, count: (length: number) => void): AsyncGenerator<T[]> {
  for await (const page of pages) {
    count(page.length);
    yield page;
  }
}

/** Yields one JSON object with the list under its name. */
async function* jsonText(name: string, pages: AsyncIterable<object[]>): AsyncGenerator<string> {
  let before = `{${JSON.stringify(name)}:[`;
  for await (const page of pages) {
    for (const row of page) {
      yield `${before}${JSON.stringify(row)}`;
      before = ",";
    }
  }
  yield before === "," ? "]}\n" : `${before}]}\n`;
}

function formatOf(format: unknown): ExportFormat {
  if (format === "csv" || format === "ndjson") return format;
  throw new Problem("invalid_request", `${JSON.stringify(format)} is neither csv nor ndjson`);
}

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { PetStore } from "../../client/client.ts";
import { pages } from "../../client/pages.ts";
import { exportedLists, exportList, type ExportFormat, type ExportedList } from "../importing/exporting.ts";
import { Problem } from "../platform/problem.ts";
import { UsageError, type Command } from "./command.ts";
import { clientOf, connectionOptions } from "./connection.ts";
import { toFile } from "./input-output.ts";

export const exportCommand: Command = {
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
    if (!isExported(name))
      throw new Problem("invalid_request", `${JSON.stringify(name)} is not one of ${Object.keys(exportedLists).join(", ")}`);
    const file = options["out"] === "-" ? undefined : (options["out"] as string | undefined);
    if (json && file === undefined && options["format"] !== undefined)
      throw new UsageError("--json prints one JSON object: leave out --format, or write to a file with --out");
    const format = json && file === undefined ? "json" : formatOf(options["format"] ?? "csv");
    const client = await clientOf(options, io);
    let rows = 0;
    const onRows = (read: number) => (rows += read);
    const text = Readable.from(format === "json" ? jsonText(client, name) : exportList(client, name, format, { onRows }));
    if (file === undefined) {
      await pipeline(text, io.stdout, { end: false });
      return undefined;
    }
    await toFile(text, file);
    return json ? { json: { list: name, format, file, rows }, text: "" } : undefined;
  },
};

/** Yields one JSON object with the list under its name. */
async function* jsonText(client: PetStore, name: ExportedList): AsyncGenerator<string> {
  let before = `{${JSON.stringify(name)}:[`;
  for await (const page of pages(client, exportedLists[name].path)) {
    for (const row of page) {
      yield `${before}${JSON.stringify(row)}`;
      before = ",";
    }
  }
  yield before === "," ? "]}\n" : `${before}]}\n`;
}

function isExported(name: string): name is ExportedList {
  return Object.hasOwn(exportedLists, name);
}

function formatOf(format: unknown): ExportFormat {
  if (format === "csv" || format === "ndjson") return format;
  throw new Problem("invalid_request", `${JSON.stringify(format)} is neither csv nor ndjson`);
}

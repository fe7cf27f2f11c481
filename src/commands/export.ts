import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { exportedLists, exportText, type ExportFormat } from "../importing/exporting.ts";
import { writeDurably } from "../platform/files.ts";
import { Problem } from "../platform/problem.ts";
import type { Command } from "./command.ts";
import { connect, connectionOf, connectionOptions, linesTo, type Environment } from "./connection.ts";

/** Creates the command. `environment` returns the service and key to use if the options name none. */
export function exporting(environment: Environment): Command {
  return {
    name: "export",
    summary: "Write a list as CSV or as JSON lines",
    options: {
      format: { value: "csv|ndjson", about: "CSV, or one JSON object per line. Default: csv" },
      out: { value: "FILE", about: "write to a file, which appears only when complete. Default: standard output" },
      ...connectionOptions,
    },
    operands: [Object.keys(exportedLists).join("|")],
    async run({ options, operands: [name = ""] }, io) {
      const list = Object.hasOwn(exportedLists, name) ? exportedLists[name as keyof typeof exportedLists] : undefined;
      if (list === undefined)
        throw new Problem("invalid_request", `${JSON.stringify(name)} is not one of ${Object.keys(exportedLists).join(", ")}`);
      const { pages } = await import("../../client/pages.ts");
      const format = formatOf(options["format"] ?? "csv");
      const client = await connect(connectionOf(options, environment(io)), linesTo(io));
      const text = Readable.from(exportText(pages(client, list.path), format, list.columns));
      if (typeof options["out"] === "string") await toFile(text, options["out"]);
      else await pipeline(text, io.stdout, { end: false });
      return undefined;
    },
  };
}

function formatOf(format: unknown): ExportFormat {
  if (format === "csv" || format === "ndjson") return format;
  throw new Problem("invalid_request", `${JSON.stringify(format)} is neither csv nor ndjson`);
}

/** Writes the file under another name and renames it when it is complete. */
async function toFile(text: Readable, file: string): Promise<void> {
  try {
    await writeDurably(file, text, 0o666);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall !== undefined && code !== undefined) throw new Problem("invalid_request", `${file} cannot be written (${code}).`);
    throw error;
  }
}

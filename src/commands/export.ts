import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { PetStore } from "../../client/client.ts";
import type { ListPath } from "../../client/pages.ts";
import { Problem } from "../platform/problem.ts";
import type { Command } from "./command.ts";
import { connectionOf, connectionOptions, type Connect } from "./connection.ts";

/** Each list's path and its columns: the fields of its model, in the model's order. */
const lists: Record<string, { path: ListPath; columns: string[] }> = {
  pets: { path: "/pets", columns: ["id", "name", "categoryId", "status"] },
  categories: { path: "/categories", columns: ["id", "name", "description"] },
  orders: { path: "/store/orders", columns: ["id", "petId", "quantity", "shipDate", "complete"] },
  inventory: { path: "/store/inventory", columns: ["petId", "quantity", "status"] },
};

/** Makes the command; `environment` is where the service's address and key are looked up when they are not options. */
export function exporting(environment: () => Connect): Command {
  return {
    name: "export",
    usage: `${Object.keys(lists).join("|")} [--format csv|ndjson] [--out FILE] [--url URL] [--key KEY]`,
    summary: "Write a list as CSV or as JSON lines",
    options: { ...connectionOptions, format: { type: "string" }, out: { type: "string" } },
    operands: ["a list"],
    async run({ options, operands: [name = ""] }) {
      const list = Object.hasOwn(lists, name) ? lists[name] : undefined;
      if (list === undefined) throw new Problem("invalid_request", `${JSON.stringify(name)} is none of ${Object.keys(lists).join(", ")}`);
      const { openClient } = await import("../../client/client.ts");
      const format = await formatOf(options["format"] ?? "csv", list.columns);
      const client = openClient({
        ...connectionOf(options, environment()),
        onWait: (reason, ms) => process.stderr.write(`Waiting ${Math.ceil(ms / 1_000)} s: ${reason}.\n`),
      });
      const rows = Readable.from(rowsOf(client, list.path));
      if (typeof options["out"] === "string") await toFile(rows, format, options["out"]);
      else await pipeline(rows, format, process.stdout, { end: false });
      return undefined;
    },
  };
}

async function formatOf(format: unknown, columns: string[]): Promise<Transform> {
  const { stringify } = await import("csv-stringify");
  if (format === "csv") return stringify({ header: true, columns, cast: { boolean: String } });
  if (format !== "ndjson") throw new Problem("invalid_request", `${JSON.stringify(format)} is neither csv nor ndjson`);
  return new Transform({ writableObjectMode: true, transform: (row, _encoding, done) => done(null, JSON.stringify(row) + "\n") });
}

async function* rowsOf(client: PetStore, path: ListPath): AsyncGenerator {
  const { pages } = await import("../../client/pages.ts");
  for await (const page of pages(client, path)) yield* page;
}

/** The file appears under its name once it is complete. */
async function toFile(rows: Readable, format: Transform, file: string): Promise<void> {
  const part = `${file}.part`;
  try {
    await pipeline(rows, format, createWriteStream(part));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall !== undefined && code !== undefined) throw new Problem("invalid_request", `${file} cannot be written (${code}).`);
    throw error;
  }
}

import type { PetStore } from "../../client/client.ts";
import { pages, type ListPath } from "../../client/pages.ts";
import { Problem } from "../platform/problem.ts";
import { call, typed } from "./calls.ts";
import { columns, UsageError, type Arguments, type Command, type Option, type Options, type Outcome } from "./command.ts";
import { clientOf, connectionOptions, linesTo } from "./connection.ts";
import type { DeclaredOperation, Value } from "./operation-table.ts";
import { declaredOperations } from "./operations.gen.ts";

/** The resources that have commands, by the end of their operations' names. */
const nouns: Record<string, string> = {
  Pet: "pets",
  Pets: "pets",
  Category: "categories",
  Categories: "categories",
  Order: "orders",
  Orders: "orders",
  Inventory: "inventory",
  InventoryItem: "inventory",
  Import: "imports",
  Imports: "imports",
};
/** A member or parameter that an option stands for. */
type GivenOption = { option: string; name: string; value: Value };
type Row = Record<string, unknown>;

const rowsDefault = 100;
const pageSizeMax = 100;

/** `pets list`, `orders create` and the like: a command for each operation of the API on one resource of the store. */
export const nounCommands: Command[] = declaredOperations.flatMap((declared) => {
  const [, verb = "", noun = ""] = /^([a-z]+)([A-Z]\w*)$/.exec(declared.id) ?? [];
  return Object.hasOwn(nouns, noun) ? [commandOf(declared, `${nouns[noun]} ${verb}`)] : [];
});

function commandOf(declared: DeclaredOperation, name: string): Command {
  const isList = name.endsWith(" list");
  const [filters, members] = [givenBy(declared.query), givenBy(declared.body ?? {})];
  const limit: Options = isList ? { limit: { value: "N", about: `the most rows to print. Default: ${rowsDefault}` } } : {};
  return {
    name,
    summary: declared.summary,
    operands: Array.from(declared.path.matchAll(/\{(\w+)\}/g), ([, parameter = ""]) => kebab(parameter).replaceAll("-", "_").toUpperCase()),
    options: { ...optionsOf([...filters, ...members]), ...limit, ...connectionOptions },
    async run({ options, operands }, io) {
      const most = isList ? countGiven(options["limit"]) : 0;
      const client = await clientOf(options, io);
      if (isList) return list(client, declared, { noun: name.split(" ")[0]!, query: valuesOf(filters, options), most }, linesTo(io));
      const path = filled(declared.path, operands);
      if (declared.method === "GET") return one(declared, await read(client, declared, operands));
      const body = declared.body && JSON.stringify(valuesOf(members, options));
      const answer = await call(client, { method: declared.method, path, ...(body !== undefined && { body }) });
      if (answer.status === 204) return { json: { deleted: path }, text: `${path} is deleted.` };
      return one(declared, (await answer.json()) as Row);
    },
  };
}

/** The values that an option can give; objects, and the place in a list, have none. */
function givenBy(values: Record<string, Value>): GivenOption[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value.kind === "json" || name.includes("[") || name === "limit" || name === "cursor" ? [] : [{ option: kebab(name), name, value }],
  );
}

function optionsOf(given: GivenOption[]): Options {
  return Object.fromEntries(
    given.map(({ option, value: { kind, about, values, isRequired, isList } }): [string, Option] => [
      option,
      {
        value: kind === "boolean" ? "true|false" : (values?.join("|") ?? (kind === "number" ? "N" : "TEXT")),
        about: /^[A-Z][a-z]/.test(about) ? about.charAt(0).toLowerCase() + about.slice(1) : about,
        ...(isRequired && { required: true as const }),
        ...(isList && { multiple: true as const }),
      },
    ]),
  );
}

function valuesOf(given: GivenOption[], options: Arguments["options"]): Row {
  const entries = given.flatMap(({ option, name, value }) => {
    const text = options[option];
    if (text === undefined) return [];
    return [[name, Array.isArray(text) ? text.map((each) => typed(String(each), value)) : typed(String(text), value)] as const];
  });
  return Object.fromEntries(entries);
}

function countGiven(text: unknown): number {
  const most = text === undefined ? rowsDefault : Number(text);
  if (!Number.isSafeInteger(most) || most < 1) throw new UsageError("--limit must be a whole number from 1");
  return most;
}

async function list(
  client: PetStore,
  { path, shown }: DeclaredOperation,
  { noun, query, most }: { noun: string; query: Row; most: number },
  note: (line: string) => void,
): Promise<Outcome> {
  const rows: Row[] = [];
  for await (const page of pages(client, path as ListPath, { ...query, limit: Math.min(pageSizeMax, most + 1) })) {
    rows.push(...(page as Row[]));
    if (rows.length > most) break;
  }
  if (rows.length > most) note(`There are more than ${most}: --limit prints more.`);
  const kept = rows.slice(0, most);
  return { json: { [noun]: kept, more: rows.length > most }, text: tableOf(shown, kept) };
}

/** Reads one resource, of a deprecated operation by its successor. */
async function read(client: PetStore, { method, path, successor }: DeclaredOperation, operands: string[]): Promise<Row> {
  const answer = (await (await call(client, { method, path: filled(successor ?? path, operands) })).json()) as Row | Row[];
  const [row] = [answer].flat();
  if (row === undefined) throw new Problem("not_found", `There is nothing at ${filled(path, operands)}.`);
  return row;
}

function one({ shown }: DeclaredOperation, row: Row): Outcome {
  return { json: row, text: tableOf(shown, [row]) };
}

function tableOf(shown: string[], rows: Row[]): string {
  const heading = shown.map((name) => kebab(name).replaceAll("-", " ").toUpperCase());
  const cell = (value: unknown) => (typeof value === "string" || typeof value === "number" ? value : value === true ? "yes" : null);
  return columns(
    heading,
    rows.map((row) => shown.map((name) => cell(row[name]))),
  );
}

function filled(path: string, operands: string[]): string {
  const left = [...operands];
  return path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(left.shift() ?? ""));
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

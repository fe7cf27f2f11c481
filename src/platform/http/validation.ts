import { parse } from "fast-querystring";
import type { TSchema } from "typebox";
import { detailsMax, invalidAt, Problem, type Detail } from "../problem.ts";
import { parameterOf } from "./schemas.ts";
import { checkOf, int64Number, type Check, type CheckOptions, shortened } from "./value-checks.ts";

const canonicalInteger = /^(?:0|-?[1-9]\d{0,18})$/;

type Parameters = Record<string, unknown>;

/**
 * Returns the validator of a parsed body. It changes the body in place: it trims text, sets defaults, and removes an identifier that
 * repeats the path's.
 *
 * @throws Problem `invalid_request` with the first problems as its details
 */
export function bodyValidator(schema: TSchema, reading?: CheckOptions): (value: unknown, params?: Parameters) => unknown {
  const check = checkOnDemand(schema, reading);
  const { properties = {} } = schema as { properties?: Record<string, TSchema> };
  const own = Object.entries(properties).flatMap(([name, property]) => {
    const parameter = parameterOf(property);
    return parameter === undefined ? [] : [{ name, parameter }];
  });

  return (value, params = {}) => {
    if (value === undefined) throw invalidAt("body", "must be JSON", "The request needs a JSON body.");
    const found: Detail[] = [];
    const checked = check(value, "body", found);
    for (const { name, parameter } of own) requireSame(checked, name, parameter, params, found);
    requireNone(found);
    return checked;
  };
}

/** Compiles a schema at its first use. Most are never used: a process serves every operation under two prefixes, and clients call few. */
function checkOnDemand(schema: TSchema, reading?: CheckOptions): Check {
  let check: Check | undefined;
  return (value, path, found) => (check ??= checkOf(schema, reading))(value, path, found);
}

function requireSame(body: unknown, name: string, parameter: string, params: Parameters, found: Detail[]): void {
  const fields = (body ?? {}) as Record<string, unknown>;
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (value === undefined) return;
  if (value !== params[parameter]) found.push({ path: `body.${name}`, message: `must be the same as ${parameter} in the path` });
  delete fields[name];
}

/** Parses a query string. @throws Problem `invalid_request` for a query that is not UTF-8 */
export function readQuery(query: string): Record<string, string | string[]> {
  try {
    if (/%[89a-f]/i.test(query)) decodeURIComponent(query.replaceAll(/%(?![\da-f]{2})/gi, "%25"));
  } catch {
    throw invalidAt("query", "must be UTF-8");
  }
  return parse(query);
}

/** The refusal of a path that does not exist. */
export function notFound(): Problem {
  return new Problem("not_found", "There is nothing at this path.");
}

/** Whether a path leads nowhere although it matches: `/pets/` is `/pets/{petId}` with an empty id. */
export function hasEmptyParameter(params: Record<string, string>): boolean {
  for (const name in params) if (params[name] === "") return true;
  return false;
}

type Property = { type?: string; items?: { type?: string }; maxItems?: number };

/**
 * Returns the validator of path or query parameters, which are text: an integer is a canonical decimal within int64, a boolean is
 * `true` or `false`, and a repeatable parameter is an array even if it appears once.
 */
export function parameterValidator(schema: TSchema, where: "path" | "query"): (given: unknown) => Parameters {
  const properties = new Map(Object.entries((schema as { properties?: Record<string, Property> }).properties ?? {}));
  const check = checkOnDemand(schema);
  return (given) => {
    const found: Detail[] = [];
    const values: Record<string, unknown> = {}; // only names of the schema become fields of it
    const texts = given as Record<string, string | string[]>;
    for (const name of Object.keys(texts)) {
      if (found.length >= detailsMax) break;
      const property = properties.get(name);
      if (property) values[name] = convert(property, texts[name]!, `${where}.${name}`);
      else found.push({ path: `${where}.${shortened(name)}`, message: "is not a parameter of this operation" });
    }
    requireNone(found);
    check(values, where, found);
    requireNone(found);
    return values;
  };
}

function convert(property: Property, text: string | string[], path: string): unknown {
  if (property.type === "array") {
    const list = [text].flat();
    // the schema refuses too many items
    return list.length > (property.maxItems ?? Infinity) ? list : list.map((item) => convert(property.items ?? {}, item, path));
  }
  if (Array.isArray(text)) throw invalid([{ path, message: "may be given once only" }]);
  if (property.type === "integer") return integer(text, path);
  if (property.type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  return text;
}

function integer(text: string, path: string): number {
  const value = canonicalInteger.test(text) ? (text.length < 16 ? Number(text) : int64Number(BigInt(text))) : undefined;
  if (value !== undefined) return value;
  throw invalid([{ path, message: "must be a decimal integer within int64" }]);
}

function requireNone(found: Detail[]): void {
  if (found.length > 0) throw invalid(found);
}

function invalid(details: Detail[]): Problem {
  const [first] = details;
  return new Problem("invalid_request", `${first?.path} ${first?.message}.`, { details });
}

import { Ajv, type ErrorObject } from "ajv";
import type { TSchema } from "typebox";
import { Problem, type Detail } from "../problem.ts";
import { parseDateTime } from "./dates.ts";
import { int64Number } from "./int64.ts";

/** Details told in one answer, at most. */
const detailsMax = 100;
const canonicalInteger = /^(?:0|-?[1-9]\d{0,18})$/;

const ajv = new Ajv({ allErrors: true, strict: true, strictTypes: false, useDefaults: true, verbose: false });
ajv.addFormat("int64", { type: "number", validate: (value: number) => value >= -(2 ** 63) && value < 2 ** 63 });
ajv.addFormat("int32", { type: "number", validate: (value: number) => value >= -(2 ** 31) && value < 2 ** 31 });
ajv.addFormat("date-time", { type: "string", validate: (text: string) => parseDateTime(text) !== undefined });
ajv.addKeyword({ keyword: "example" });
ajv.addKeyword({
  keyword: "x-text",
  type: "string",
  modifying: true,
  before: "maxLength",
  validate: trimText,
  error: { message: "must be well-formed text" },
});

function trimText(
  _schema: unknown,
  text: string,
  _parent: unknown,
  at?: { parentData: Record<string, unknown>; parentDataProperty: string | number },
): boolean {
  if (!text.isWellFormed()) return false;
  const trimmed = text.trim();
  if (at && trimmed !== text) at.parentData[at.parentDataProperty] = trimmed;
  return true;
}

type Validator = (value: unknown) => unknown;

/** Validates a body as it was parsed. Trims text, fills in defaults; raises `invalid_request` with the details. */
export function bodyValidator(schema: TSchema): Validator {
  const validate = ajv.compile(schema);
  return (value) => {
    if (value === undefined) throw new Problem("invalid_request", "The request needs a JSON body.");
    if (!validate(value)) throw invalid("body", validate.errors ?? []);
    return value;
  };
}

type Properties = Record<string, { type?: string; items?: { type?: string } }>;

/**
 * Validates path or query parameters, which are text: an integer is a canonical decimal within int64, a boolean is
 * `true` or `false`, a repeatable parameter is an array even when it is given once.
 */
export function parameterValidator(schema: TSchema, where: "path" | "query"): Validator {
  const properties = ((schema as { properties?: Properties }).properties ?? {}) satisfies Properties;
  const validate = ajv.compile({ ...schema, additionalProperties: false });
  return (given) => {
    const values = Object.create(null) as Record<string, unknown>; // `__proto__` is a name like any other
    for (const [name, text] of Object.entries(given as Record<string, string | string[]>)) {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      values[name] = property ? convert(property, text, `${where}.${name}`) : text;
    }
    if (!validate(values)) throw invalid(where, validate.errors ?? []);
    return values;
  };
}

function convert(property: Properties[string], text: string | string[], path: string): unknown {
  if (property.type === "array") return [text].flat().map((item) => convert(property.items ?? {}, item, path));
  if (Array.isArray(text))
    throw new Problem("invalid_request", `${path} may be given once only.`, { details: [{ path, message: "may be given once only" }] });
  if (property.type === "integer") return integer(text, path);
  if (property.type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  return text;
}

function integer(text: string, path: string): number {
  const value = canonicalInteger.test(text) ? (text.length < 16 ? Number(text) : int64Number(BigInt(text))) : undefined;
  if (value !== undefined) return value;
  const message = "must be a decimal integer within int64";
  throw new Problem("invalid_request", `${path} ${message}.`, { details: [{ path, message }] });
}

function invalid(where: string, errors: ErrorObject[]): Problem {
  const details = errors.slice(0, detailsMax).map((error) => detail(where, error));
  const [first] = details;
  return new Problem("invalid_request", first ? `${first.path} ${first.message}.` : "The request is invalid.", { details });
}

function detail(where: string, error: ErrorObject): Detail {
  const path =
    where +
    error.instancePath
      .replace(/\/(\d+)(?=\/|$)/g, "[$1]")
      .replaceAll("/", ".")
      .replaceAll("~1", "/")
      .replaceAll("~0", "~");
  switch (error.keyword) {
    case "additionalProperties":
      return {
        path: `${path}.${String(error.params["additionalProperty"]).slice(0, 200)}`,
        message: where === "query" ? "is not a parameter of this operation" : "is not a known field",
      };
    case "required":
      return { path: `${path}.${String(error.params["missingProperty"])}`, message: "is required" };
    case "enum":
      return {
        path,
        message: `must be one of ${(error.params["allowedValues"] as (string | null)[]).filter((v) => v !== null).join(", ")}`,
      };
    case "format":
      return {
        path,
        message:
          error.params["format"] === "date-time"
            ? "must be a date and time of RFC 3339 with a zone"
            : `must be within ${String(error.params["format"])}`,
      };
    case "pattern":
      return { path, message: "must hold text other than white space, and no NUL" };
    default:
      return { path, message: error.message ?? "is invalid" };
  }
}

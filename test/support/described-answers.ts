import { AssertionError } from "node:assert";
import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import { bodyChecker, dereferenced, operationsIn, strict, type Document, type Operation } from "./description.ts";

type Described = {
  operations: { method: string; pattern: RegExp; operation: Operation }[];
  check: ReturnType<typeof bodyChecker>;
  isError: ValidateFunction;
};

let described: Described | undefined;

/**
 * Checks the JSON of an answer below `/v1` against the committed description. Answers leave the service as its handlers return them, so a field that
 * the description does not name would otherwise reach clients unnoticed.
 *
 * @param path below `/v1`, with its query
 * @throws AssertionError if the body is not as described, or has a field that is not
 */
export function requireDescribed(method: string, path: string, status: number, body: unknown): void {
  described ??= readDescription();
  const [plain = ""] = path.split("?", 1);
  const found = described.operations.find((each) => each.method === method && each.pattern.test(plain))?.operation;
  const wrong = found?.responses[status] ? described.check(found, status, body) : wrongError(described, status, body);
  if (wrong.length > 0) throw new AssertionError({ message: `${method} ${path}: ${wrong.join("; ")}`, actual: body });
}

/** Says what is wrong with an answer whose status the operation does not describe. Every refusal is an Error. */
function wrongError({ isError }: Described, status: number, body: unknown): string[] {
  return status < 400 || isError(body) ? [] : [`${status} has no Error as its body`];
}

function readDescription(): Described {
  const document = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8")) as Document;
  const operations = operationsIn(document).map((operation) => ({
    method: operation.method,
    pattern: new RegExp(`^${operation.path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    operation,
  }));
  // a path without parameters comes before one that would match it too
  operations.sort((a, b) => a.operation.path.split("{").length - b.operation.path.split("{").length);
  const errorSchema = strict(dereferenced(document.components.schemas["Error"], document)) as object;
  return {
    operations,
    check: bodyChecker(document),
    isError: new Ajv({ strict: false, formats: { int64: true, "date-time": true } }).compile(errorSchema),
  };
}

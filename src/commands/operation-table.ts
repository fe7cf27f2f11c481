import type { Description } from "../../client/generate.ts";
import { resolved } from "../../client/references.ts";

/** The kind of a value on the command line. `json` is an object, or a list of them. */
type ValueKind = "text" | "number" | "boolean" | "json";
/** A query parameter, or a member of a body. `values`: all that it can be. */
export type Value = { kind: ValueKind; about: string; values?: string[]; isRequired?: true; isList?: true };

/**
 * An operation as the command line knows it. `query` and `body` are by name; a member of an object in the body is named `price[amount]`. `shown` has the
 * plain members of the answer, or of the elements of its list. `successor` is what replaces a deprecated operation, such as `/pets?id={petId}`.
 */
export type DeclaredOperation = {
  id: string;
  method: string;
  path: string;
  summary: string;
  query: Record<string, Value>;
  body?: Record<string, Value>;
  shown: string[];
  successor?: string;
};

type Schema = Description["components"]["schemas"][string];

/** Returns the TypeScript file with the operations of a description, for the commands that call them by name. */
export function operationTableOf(document: Description): string {
  const declared = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => declaredOf(document, path, method.toUpperCase(), operation)),
  );
  return [
    "// Made from openapi.json by `npm run description`.\n",
    'import type { DeclaredOperation } from "./operation-table.ts";\n',
    `export const declaredOperations: DeclaredOperation[] = [\n${declared.map((one) => `  ${JSON.stringify(one)},\n`).join("")}];\n`,
  ].join("\n");
}

function declaredOf(
  document: Description,
  path: string,
  method: string,
  operation: Description["paths"][string][string],
): DeclaredOperation {
  const { operationId: id, summary = "", parameters = [], requestBody, responses } = operation;
  const query = parameters.map((one) => resolved(document, one)).filter((one) => one.in === "query");
  const body = jsonOf(requestBody?.content);
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? [];
  const { content } = success ? resolved(document, success) : {};
  const successor = (operation as { "x-successor"?: string })["x-successor"];
  return {
    id,
    method,
    path,
    summary,
    query: Object.fromEntries(
      query.map((one) => [one.name, declaredValue(document, one.schema, { about: one.description, isRequired: one.required })]),
    ),
    ...(body && { body: membersOf(document, body) }),
    shown: shownOf(document, jsonOf(content)),
    ...(successor !== undefined && { successor }),
  };
}

/** The schema of a JSON body, if it has one. */
function jsonOf(content: Record<string, { schema: Schema }> | undefined): Schema | undefined {
  return Object.entries(content ?? {}).find(([type]) => /[/+]json$/.test(type))?.[1].schema;
}

/** The members of an object, those of inner objects after it; none of a list. */
function membersOf(document: Description, schema: Schema): Record<string, Value> {
  const { properties = {}, required = [] } = plain(document, schema);
  const entries = Object.entries(properties).flatMap(([name, one]) => {
    const inner = Object.entries(plain(document, one).properties ?? {});
    return [
      [name, declaredValue(document, one, { about: one.description, isRequired: required.includes(name) })] as const,
      ...inner.map(([member, of]) => [`${name}[${member}]`, declaredValue(document, of, {})] as const),
    ];
  });
  return Object.fromEntries(entries);
}

function shownOf(document: Description, schema: Schema | undefined): string[] {
  const answer = schema && plain(document, schema);
  const of = answer?.items ? plain(document, answer.items) : answer;
  return Object.entries(of?.properties ?? {}).flatMap(([name, one]) => (kindOf(document, one) === "json" ? [] : [name]));
}

function declaredValue(document: Description, schema: Schema, { about = "", isRequired }: { about?: string; isRequired?: boolean }): Value {
  const { items } = plain(document, schema);
  const one = items ?? schema;
  const { enum: closed, "x-extensible-enum": open } = plain(document, one);
  const values = closed ?? open;
  const [first = ""] = about.split(/(?<=\.)\s/);
  return {
    kind: kindOf(document, one),
    about: first.replace(/\.$/, ""),
    ...(values && { values: values.filter((value) => value !== null).map(String) }),
    ...(isRequired && { isRequired }),
    ...(items && { isList: true as const }),
  };
}

function kindOf(document: Description, schema: Schema): ValueKind {
  const { type, anyOf } = plain(document, schema);
  if (type === "integer" || type === "number") return "number";
  if (type === "boolean") return "boolean";
  return type === "string" || anyOf ? "text" : "json";
}

/** A schema without its references: that of a nullable reference is in `allOf`. */
function plain(document: Description, schema: Schema): Schema {
  const own = resolved(document, schema);
  return own.allOf ? plain(document, own.allOf[0]) : own;
}

import { resolved } from "../../client/references.ts";
import {
  methods,
  type CodeSample,
  type ErrorTable,
  type Header,
  type MediaType,
  type Method,
  type OpenApi,
  type OperationObject,
  type Parameter,
  type ResponseObject,
  type Schema,
} from "./openapi.ts";

type Stability = "beta" | "experimental";
export type Content = MediaType & { type: string };
export type Answer = { status: string; description: string; headers: Record<string, Header>; contents: Content[] };

/** An operation as the page shows it. */
export type Operation = {
  id: string;
  method: Uppercase<Method>;
  /** Relative to the server's URL, as in the description: `/pets/{petId}`. */
  path: string;
  group: string;
  tag: string;
  summary: string;
  description: string;
  stability?: { level: Stability; promise: string };
  deprecation?: { sunset?: Date; successor?: { id: string; request: string } };
  /** Whether it has a test panel: `x-hideTryItPanel` is not set. */
  hasPanel: boolean;
  parameters: Parameter[];
  body: Content[];
  answers: Answer[];
  errors: Answer[];
  /** The scopes that the key needs. */
  scopes: string[];
  samples: CodeSample[];
};

/** `stability`: that of the section, if all its operations have the same. */
export type Section = { tag: string; description: string; operations: Operation[]; stability?: NonNullable<Operation["stability"]> };
export type Group = { name: string; sections: Section[] };

export type Description = {
  title: string;
  version: string;
  introduction: string;
  /** The URL that the operations' paths follow; it may be relative to the description's URL. */
  serverUrl: string;
  groups: Group[];
  operations: Operation[];
  schemas: Record<string, Schema>;
  errorTable: ErrorTable;
};

/** The description in the order of its navigation: groups (`x-tagGroups`), their tags, the operations of each. */
export function readDescription(document: OpenApi): Description {
  const found = operationsOf(document);
  const groups = (document["x-tagGroups"] ?? [{ name: document.info.title, tags: [...new Set(found.map(({ tag }) => tag))] }])
    .map(({ name, tags }) => ({ name, sections: tags.map((tag) => sectionOf(tag, name, document, found)).filter(hasOperations) }))
    .filter(({ sections }) => sections.length > 0);
  return {
    title: document.info.title,
    version: document.info.version,
    introduction: document.info.description ?? "",
    serverUrl: document.servers?.[0]?.url ?? "",
    groups,
    operations: groups.flatMap(({ sections }) => sections.flatMap(({ operations }) => operations)),
    schemas: document.components?.schemas ?? {},
    errorTable: document["x-errors"] ?? {},
  };
}

function hasOperations({ operations }: Section): boolean {
  return operations.length > 0;
}

function sectionOf(tag: string, group: string, { tags }: OpenApi, found: Operation[]): Section {
  const description = tags?.find(({ name }) => name === tag)?.description ?? "";
  const operations = found.filter((operation) => operation.tag === tag).map((operation) => ({ ...operation, group }));
  const stability = operations[0]?.stability;
  const isShared = stability !== undefined && operations.every((operation) => operation.stability?.level === stability.level);
  return { tag, description, operations, ...(isShared && { stability }) };
}

function operationsOf(document: OpenApi): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const object = item[method];
      return object ? [operationOf(document, method, path, object)] : [];
    }),
  );
}

function operationOf(document: OpenApi, method: Method, path: string, object: OperationObject): Operation {
  const upper = method.toUpperCase() as Uppercase<Method>;
  const { text, stability } = withoutPromise(object.description ?? "", object["x-stability"]);
  const answers = Object.entries(object.responses).map(([status, response]) => answerOf(document, status, resolved(document, response)));
  return {
    id: object.operationId ?? `${method}${path.replaceAll(/\W+/g, "-")}`,
    method: upper,
    path,
    group: "",
    tag: object.tags?.[0] ?? "",
    summary: object.summary ?? `${upper} ${path}`,
    description: text,
    ...(stability && { stability }),
    ...(object.deprecated && { deprecation: deprecationOf(document, object) }),
    hasPanel: object["x-hideTryItPanel"] !== true,
    parameters: (object.parameters ?? [])
      .map((parameter) => parameterOf(document, resolved(document, parameter)))
      .filter((parameter) => parameter["x-of-every-operation"] !== true),
    body: contentsOf(object.requestBody?.content),
    answers: answers.filter(({ status }) => !isError(status)),
    errors: answers.filter(({ status }) => isError(status)),
    scopes: object["x-scopes"] ?? [],
    samples: object["x-codeSamples"] ?? [],
  };
}

/** Takes the level's promise out of the description, for the badge: the paragraph that begins with the level's name, as `**Beta**: …`. */
function withoutPromise(description: string, level: string | undefined): { text: string; stability?: Operation["stability"] } {
  if (level !== "beta" && level !== "experimental") return { text: description };
  const paragraphs = description.split("\n\n");
  const opening = new RegExp(`^\\*\\*${level}\\*\\*:?\\s*`, "i");
  const promise = paragraphs.find((paragraph) => opening.test(paragraph));
  return {
    text: paragraphs.filter((paragraph) => paragraph !== promise).join("\n\n"),
    stability: { level, promise: promise?.replace(opening, "") ?? "" },
  };
}

function deprecationOf(document: OpenApi, object: OperationObject): NonNullable<Operation["deprecation"]> {
  const { "x-sunset": sunset, "x-successor": successor } = object;
  const successorPath = successor?.split("?")[0];
  const id = successorPath === undefined ? undefined : document.paths[successorPath]?.get?.operationId;
  return {
    ...(sunset !== undefined && { sunset: new Date(sunset) }),
    ...(id !== undefined && { successor: { id, request: `GET ${successor}` } }),
  };
}

/** Replaces a parameter's reference to a schema by that schema. */
function parameterOf(document: OpenApi, { schema = {}, ...rest }: Parameter): Parameter {
  const { allOf, ...notes } = schema;
  const base = resolved<Schema>(document, allOf?.[0] ?? schema);
  return { ...rest, schema: { ...base, ...(allOf && notes) } };
}

function answerOf(document: OpenApi, status: string, { description, headers = {}, content }: ResponseObject): Answer {
  const found = Object.entries(headers).map(([name, header]) => [name, resolved(document, header)]);
  return { status, description, headers: Object.fromEntries(found) as Record<string, Header>, contents: contentsOf(content) };
}

function contentsOf(content: Record<string, MediaType> = {}): Content[] {
  return Object.entries(content).map(([type, media]) => ({ type, ...media }));
}

function isError(status: string): boolean {
  return !/^[123]/.test(status);
}

/** The last step of a reference: `Pet` of `#/components/schemas/Pet`. */
export function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

/** The search terms of an operation, the most important first. */
export function searchTexts({ summary, method, path, id, tag, group, description }: Operation): string[] {
  return [summary, `${method} ${path}`, id, `${tag} ${group}`, description];
}

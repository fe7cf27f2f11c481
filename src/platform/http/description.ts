import type { TSchema } from "typebox";
import { errorTable, problemCodes } from "../error-table.ts";
import { prefix } from "./api-surfaces.ts";
import { bodyBytesMaxOf, shownSize } from "./bodies.ts";
import {
  type Components,
  deprecationHeaders,
  type DescribedAnswers,
  describeProblems,
  describeSchema,
  emptyComponents,
  type ErrorExamples,
  everyAnswer,
  everyRequest,
  headerComponents,
  headerReferences,
  pascalCase,
  readsResource,
  share,
  shareIfFree,
  shareRepeated,
} from "./description-components.ts";
import { idempotencyKeyForm } from "./idempotency.ts";
import { type DescribedOperation, readingOf, sunsetOf, type Sunsets } from "./operation.ts";
import { anyFile } from "./pictures.ts";
import { codeSamples } from "./samples.ts";
import { baseOf, ErrorSchema, nameOf, paging, parameterOf } from "./schemas.ts";

type Json = Record<string, unknown>;
export type Description = Json & { openapi: string; paths: Record<string, Json>; components: Json & Components };

const bearer = "BearerKey";
const header = "ApiKeyHeader";

/** What the declarations of operations leave out: examples of their refusals, and when the deprecated ones end. */
export type DescriptionNotes = {
  errors: ErrorExamples;
  sunsets: Sunsets;
  /** The origin that clients use. Default: the one that the description came from. */
  origin?: string | undefined;
};

/** The OpenAPI 3.0.3 description of the API (specification 1.13), made from the operations that serve it, with recorded errors. */
export function describe(operations: DescribedOperation[], recorded: DescriptionNotes): Description {
  const components = emptyComponents();
  const paths: Record<string, Json> = {};
  describeSchema(ErrorSchema, components);
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describeOperation(operation, operations, components, recorded);
  }
  shareRepeated(Object.values(paths).flatMap((path) => Object.values(path)) as DescribedAnswers[], components);
  const used = new Set(operations.map(({ tag }) => tag));
  return {
    openapi: "3.0.3",
    info: {
      title: "Pet Store API",
      version: "1.0.0",
      description: introduction,
      contact: { name: "The operator of this service" },
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: (recorded.origin ?? "") + prefix, description: "This service." }],
    tags: tags.filter(({ name }) => used.has(name) || name === "Pets" || name === "Store"),
    "x-tagGroups": tagGroups,
    "x-errors": describedErrors(),
    security: [{ [bearer]: [] }, { [header]: [] }],
    paths,
    components: {
      securitySchemes: {
        [bearer]: { type: "http", scheme: "bearer", description: "`Authorization: Bearer KEY`" },
        [header]: { type: "apiKey", in: "header", name: "X-API-Key", description: "`X-API-Key: KEY`" },
      },
      headers: headerComponents(),
      ...components,
    },
  };
}

/** Each code of the error table with its status and its meaning. */
function describedErrors(): Record<string, { status: number; meaning: string }> {
  return Object.fromEntries(problemCodes.map((code) => [code, { status: errorTable[code].status, meaning: errorTable[code].meaning }]));
}

function describeOperation(
  operation: DescribedOperation,
  operations: readonly DescribedOperation[],
  components: Components,
  recorded: DescriptionNotes,
): Json {
  const { errors, sunsets } = recorded;
  const { operationId, tag, summary, description, details, scope, alsoScope, stability, deprecated, hideTryItPanel } = operation;
  const scopes = [scope, alsoScope].filter((one) => typeof one === "string");
  const notes = [
    [description, details].filter(Boolean).join(" "),
    stability && stabilities[stability],
    `${scopes.length > 1 ? "Scopes" : "Scope"} of the key: ${scopes.map((one) => `\`${one}\``).join(" and ")}.`,
  ];
  return {
    operationId,
    tags: [tag],
    summary,
    description: notes.filter(Boolean).join("\n\n"),
    ...(deprecated && {
      deprecated: true,
      "x-sunset": new Date(sunsetOf(operation, sunsets)).toISOString(),
      "x-successor": deprecated.successor,
    }),
    "x-scopes": scopes,
    ...(stability && { "x-stability": stability }),
    ...(hideTryItPanel && { "x-hideTryItPanel": true }),
    parameters: describeParameters(operation, components),
    ...(operation.body && { requestBody: describeBody(operation, components) }),
    ...(operation.upload && { requestBody: describeUpload(operation.upload) }),
    responses: {
      ...describeAnswers(operation, components, operations),
      ...describeProblems(operation, components, errors[operationId]),
    },
    "x-codeSamples": codeSamples(operation),
  };
}

function describeParameters(operation: DescribedOperation, components: Components): Json[] {
  const { params, query, method, example, problems } = operation;
  const list: Json[] = [
    ...parametersOf(params, "path", example?.params, components),
    ...parametersOf(query, "query", example?.query, components),
  ];
  const add = (name: string, parameter: Json): void => void list.push(share(components, "parameters", name, parameter));
  if (readsResource(operation)) {
    add("IfNoneMatch", headerParameter("If-None-Match", "An ETag that you have: the answer is 304 while it is still current."));
    add("IfMatchToRead", headerParameter("If-Match", "The ETag that the resource must have; otherwise 412."));
  }
  if (problems?.includes("precondition_failed")) {
    add("IfMatch", headerParameter("If-Match", "The ETag that the resource must still have; otherwise 412 and no change."));
  }
  if (method === "POST") {
    const description = "Makes the request safe to repeat for 24 hours: a replay gets the first answer.";
    add("IdempotencyKey", headerParameter("Idempotency-Key", description, idempotencyKeyForm.source));
  }
  if (operation.dryRun) {
    const description = "`dry-run`: the answer shows what the request would do, and nothing changes.";
    add("Prefer", headerParameter("Prefer", description));
  }
  for (const [name, parameter] of Object.entries(everyRequest)) add(pascalCase(name), parameter);
  return list;
}

/** Path and paging parameters are shared if they are equal; a filter belongs to its operation. */
function parametersOf(parameters: TSchema | undefined, where: "path" | "query", examples: Json = {}, components: Components): Json[] {
  const { properties = {}, required = [] } = (parameters ?? {}) as { properties?: Record<string, TSchema>; required?: string[] };
  return Object.entries(properties).map(([name, property]) => {
    const { description: about, default: value, ...rest } = property as Json;
    const isRepeated = where === "query" && rest["type"] === "array";
    const description = isRepeated ? `${about as string} Repeat the parameter to name several.` : about;
    const isNamed = (baseOf(property) ?? nameOf(property)) !== undefined;
    const schema = describeSchema(isNamed ? (baseOf(property) ?? property) : rest, components, { isRequest: true }) as Json;
    const parameter = {
      name,
      in: where,
      ...(required.includes(name) && { required: true }),
      description,
      schema: value === undefined ? schema : withDefault(schema, value),
      ...(name in examples && { example: examples[name] }),
    };
    const mayBeShared = where === "path" || (name in paging && !(name in examples));
    return mayBeShared ? shareIfFree(components, "parameters", pascalCase(name), parameter) : parameter;
  });
}

function headerParameter(name: string, description: string, pattern?: string): Json {
  return { name, in: "header", description, schema: { type: "string", ...(pattern && { pattern }) } };
}

/** OpenAPI 3.0 allows no default beside a reference. */
function withDefault(schema: Json, value: unknown): Json {
  return "$ref" in schema ? { allOf: [schema], default: value } : { ...schema, default: value };
}

function describeBody(operation: DescribedOperation, components: Components): Json {
  const { body, mediaTypes = ["application/json"], method, example } = operation;
  const content = {
    schema: describeSchema(body as TSchema, components, { ...readingOf(operation), isRequest: true }),
    example: example?.body,
  };
  const [mediaType = "", ...others] = mediaTypes;
  const notes = [
    ...(method === "PATCH" ? ["A JSON merge patch (RFC 7396): fields that are left out keep their values."] : []),
    `At most ${shownSize(bodyBytesMaxOf(operation))}.`,
    ...others.map((type) => `\`${type}\` is accepted too.`),
    ...repeatedFields(body as TSchema),
  ];
  return { required: !operation.isBodyOptional, description: notes.join(" "), content: { [mediaType]: content } };
}

/** The fields that a body may have besides those of its model, in words. */
function repeatedFields(body: TSchema): string[] {
  const { properties = {} } = body as { properties?: Record<string, TSchema> };
  return Object.entries(properties).flatMap(([name, property]) => {
    const parameter = parameterOf(property);
    return parameter === undefined ? [] : [`May also hold \`${name}\`, which must be the same as \`${parameter}\` in the path.`];
  });
}

/** An upload has one content type here, because many generators take no more, or only this one. The service finds the form in the bytes. */
function describeUpload({ mediaTypes, description }: NonNullable<DescribedOperation["upload"]>): Json {
  const own = mediaTypes.map((type) => `\`${type}\``).join(", ");
  const file = { schema: { type: "string", format: "binary" } };
  return { required: true, description: `${description} Its own content type is accepted too: ${own}.`, content: { [anyFile]: file } };
}

function describeAnswers(operation: DescribedOperation, components: Components, operations: readonly DescribedOperation[]): Json {
  const replayed = operation.method === "POST" ? ["Idempotent-Replayed"] : [];
  const applied = operation.dryRun ? ["Preference-Applied"] : [];
  const deprecation = operation.deprecated ? deprecationHeaders : [];
  const links = linksOf(operation, operations);
  const answers: [string, unknown][] = Object.entries(operation.answers).map(
    ([status, { description, schema, mediaType = "application/json", example, headers = [] }]) => [
      status,
      {
        description,
        headers: headerReferences([...everyAnswer, ...headers, ...replayed, ...applied, ...deprecation]),
        ...(schema && { content: { [mediaType]: { schema: describeSchema(schema, components), example } } }),
        ...((status === "201" || status === "202") && Object.keys(links).length > 0 && { links }),
      },
    ],
  );
  if (readsResource(operation)) {
    const headers = headerReferences(["ETag", ...deprecation]);
    answers.push([
      "304",
      shareIfFree(components, "responses", "NotModified", { description: "The client has the current version.", headers }),
    ]);
  }
  return Object.fromEntries(answers);
}

/** The introduction of the API description. */
const introduction = `A shop's back end: pets and their categories, orders, and stock that is never sold twice.

**Keys.** Send your key as \`Authorization: Bearer KEY\` or \`X-API-Key: KEY\`. A key has scopes and gives access to its own account only.

**Lists** are JSON arrays, ordered by \`id\` unless sorted. The next page is in the \`Link\` header.

**Changes.** Every write returns the resource as it is afterwards. You can send back what you read: a body may repeat the resource's own \`id\`. An optional field that is \`null\` counts as absent; in a PATCH \`null\` removes the value. A resource's \`ETag\` stays the same until the resource changes: send it as \`If-Match\`, and the change happens only if nobody else changed the resource. You can repeat a POST with an \`Idempotency-Key\`: the service does it once.

**Limits.** Each answer, refusals included, shows in \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` how many requests are left. Over the limit the answer is 429 with \`Retry-After\`: wait that long. A key that goes on sending requests is banned for some minutes. Storage is limited too: an addition beyond the limit is a 403 \`storage_limit_reached\`, and \`GET /account\` shows how much is left.

**Errors** are objects with \`code\`, \`message\` and \`status\`. Codes are stable; messages may change. The \`details\` of a 400 or 422 say where the request is wrong. Each answer has an \`X-Request-Id\`: your own if you send one. The service logs a \`traceparent\` (W3C Trace Context).`;

type Tag = { name: string; description: string };

/** Tags with operations, and the two that only group others (specification 1.13). */
const tags: Tag[] = [
  { name: "Pets", description: "Navigation group: the catalogue. It carries no operations of its own." },
  { name: "Store", description: "Navigation group: selling. It carries no operations of its own." },
  { name: "Animals", description: "Pets with a name, a category and a sales status." },
  { name: "Categories", description: "Groupings of pets, for example a species." },
  { name: "Orders", description: "Purchases of a pet, with quantity, ship date and completion flag." },
  { name: "Inventory", description: "Stock entries per pet, with a quantity and a status." },
  { name: "Events", description: "What happened in the shop: an ordered log without gaps that proves that it is complete." },
  {
    name: "Imports",
    description: "Animals from files and other systems: found again by the source's own identifiers, and taken back as a whole.",
  },
  { name: "Account", description: "The plan, its limits, and what is used of them." },
  {
    name: "Keys",
    description: "The account's API keys, for programs that make keys for others. Needs scopes that only members and operators give.",
  },
  { name: "Projects", description: "Published sites: each at an address of the platform, with the deployments that it is made of." },
  { name: "Domains", description: "A project's own host names: the DNS record to create, its verification, the certificate." },
  { name: "Webhooks", description: "Endpoints that get the account's events, signed and tried again, and what was sent to them." },
];

const tagGroups = [
  { name: "Pets", tags: ["Animals", "Categories"] },
  { name: "Store", tags: ["Orders", "Inventory"] },
  { name: "Integration", tags: ["Imports", "Events", "Webhooks"] },
  { name: "Platform", tags: ["Account", "Keys", "Projects", "Domains"] },
];

/** What a stability marker promises. */
const stabilities = {
  beta: "**Beta**: details may still change, with notice.",
  experimental: "**Experimental**: may change or go away without notice.",
};

type Link = { operationId: string; parameters: Record<string, string> };

/**
 * The links (OpenAPI 3.0) from the answer of an operation that creates a resource to the operations on that resource, by operationId: its
 * identifier is in the answer, and the other parameters of the path are those of the request.
 */
function linksOf(operation: DescribedOperation, operations: readonly DescribedOperation[]): Record<string, Link> {
  const own = namesIn(operation.path);
  const created = operation.method === "PUT" ? own.at(-1) : createdBy(operation, operations);
  if (created === undefined) return {};
  const values = Object.fromEntries(own.map((name) => [name, `$request.path.${name}`]));
  if (operation.method !== "PUT") values[created] = `$response.body#/${isText(operation, created) ? created : "id"}`;
  const reached = operations.filter(({ path, operationId }) => {
    const names = namesIn(path);
    return operationId !== operation.operationId && names.includes(created) && names.every((name) => name in values);
  });
  return Object.fromEntries(
    reached.map(({ operationId, path }) => {
      const parameters = Object.fromEntries(namesIn(path).map((name) => [name, values[name] as string]));
      return [operationId, { operationId, parameters }];
    }),
  );
}

/** The path parameter of the resource that a POST to a list creates. */
function createdBy({ method, path }: DescribedOperation, operations: readonly DescribedOperation[]): string | undefined {
  if (method !== "POST") return undefined;
  const one = operations.find((other) => other.path.startsWith(`${path}/{`) && !other.path.slice(path.length + 1).includes("/"));
  return one && namesIn(one.path).at(-1);
}

/** Whether the answer has the parameter under its own name, as a domain has its `hostname`. */
function isText({ answers }: DescribedOperation, name: string): boolean {
  const { properties = {} } = (answers[201]?.schema ?? {}) as { properties?: object };
  return name in properties;
}

function namesIn(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
}

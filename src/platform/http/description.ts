import type { TSchema } from "typebox";
import { describeProblems } from "./description-problems.ts";
import { deprecationHeaders, everyAnswer, headerReferences, readsResource, responseHeaders } from "./description-headers.ts";
import { introduction, stabilities, tagGroups, tags } from "./description-text.ts";
import type { Operation } from "./operation.ts";
import { prefix } from "./prefix.ts";
import { codeSamples } from "./samples.ts";
import { ErrorSchema, nameOf } from "./schemas.ts";

type Json = Record<string, unknown>;
export type Description = Json & { openapi: string; paths: Record<string, Json>; components: Json & { schemas: Json } };

const bearer = "BearerKey";
const header = "ApiKeyHeader";

/** The OpenAPI 3.0.3 description of the API (specification, part 1), made from the operations that serve it. */
export function describe(operations: Operation[]): Description {
  const schemas: Json = {};
  const paths: Record<string, Json> = {};
  reference(ErrorSchema, schemas);
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describeOperation(operation, schemas);
  }
  const used = new Set(operations.map(({ tag }) => tag));
  return {
    openapi: "3.0.3",
    info: {
      title: "Pet Store API",
      version: "1.0.0",
      description: introduction,
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: prefix, description: "This service." }],
    tags: tags.filter(({ name }) => used.has(name) || name === "Pets" || name === "Store"),
    "x-tagGroups": tagGroups,
    security: [{ [bearer]: [] }, { [header]: [] }],
    paths,
    components: {
      securitySchemes: {
        [bearer]: { type: "http", scheme: "bearer", description: "`Authorization: Bearer KEY`" },
        [header]: { type: "apiKey", in: "header", name: "X-API-Key", description: "`X-API-Key: KEY`" },
      },
      schemas,
      headers: responseHeaders,
    },
  };
}

function describeOperation(operation: Operation, schemas: Json): Json {
  const { operationId, tag, summary, description, scope, stability, deprecated, hideTryItPanel } = operation;
  const notes = [description, stability && stabilities[stability], `Scope of the key: \`${scope}\`.`];
  return {
    operationId,
    tags: [tag],
    summary,
    description: notes.filter(Boolean).join("\n\n"),
    ...(deprecated && { deprecated: true, "x-sunset": new Date(deprecated.sunset).toISOString(), "x-successor": deprecated.successor }),
    ...(stability && { "x-stability": stability }),
    ...(hideTryItPanel && { "x-hideTryItPanel": true }),
    parameters: describeParameters(operation),
    ...(operation.body && { requestBody: describeBody(operation, schemas) }),
    ...(operation.upload && { requestBody: describeUpload(operation.upload) }),
    responses: { ...describeAnswers(operation, schemas), ...describeProblems(operation) },
    "x-codeSamples": codeSamples(operation),
  };
}

function describeParameters(operation: Operation): Json[] {
  const { params, query, method, example, problems } = operation;
  const list = [...parametersOf(params, "path", example?.params), ...parametersOf(query, "query", example?.query)];
  if (readsResource(operation)) {
    list.push(headerParameter("If-None-Match", "An ETag that you have: the answer is 304 while it is still current."));
    list.push(headerParameter("If-Match", "The ETag that the resource must have; otherwise 412."));
  }
  if (problems?.includes("precondition_failed")) {
    list.push(headerParameter("If-Match", "The ETag that the resource must still have; otherwise 412 and no change."));
  }
  if (method === "POST")
    list.push(headerParameter("Idempotency-Key", "Makes the request safe to repeat for 24 hours: a replay gets the first answer.", 255));
  return list;
}

function parametersOf(schema: TSchema | undefined, where: "path" | "query", examples: Json = {}): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(properties).map(([name, { description, ...property }]) => ({
    name,
    in: where,
    ...(required.includes(name) && { required: true }),
    description,
    schema: property,
    ...(name in examples && { example: examples[name] }),
  }));
}

function headerParameter(name: string, description: string, maxLength?: number): Json {
  return { name, in: "header", description, schema: { type: "string", ...(maxLength && { minLength: 1, maxLength }) } };
}

function describeBody({ body, mediaTypes = ["application/json"], example }: Operation, schemas: Json): Json {
  const content = { schema: reference(body as TSchema, schemas), example: example?.body };
  return { required: true, content: Object.fromEntries(mediaTypes.map((type) => [type, content])) };
}

function describeUpload({ mediaType, description }: NonNullable<Operation["upload"]>): Json {
  return { required: true, description, content: { [mediaType]: { schema: { type: "string", format: "binary" } } } };
}

function describeAnswers(operation: Operation, schemas: Json): Json {
  const replayed = operation.method === "POST" ? ["Idempotent-Replayed"] : [];
  const deprecation = operation.deprecated ? deprecationHeaders : [];
  const answers = Object.entries(operation.answers).map(([status, { description, schema, example, headers = [] }]) => [
    status,
    {
      description,
      headers: headerReferences([...everyAnswer, ...headers, ...replayed, ...deprecation]),
      ...(schema && { content: { "application/json": { schema: reference(schema, schemas), example } } }),
    },
  ]);
  if (readsResource(operation)) {
    answers.push([
      "304",
      { description: "The client has the current version.", headers: headerReferences([...everyAnswer, "ETag", ...deprecation]) },
    ]);
  }
  return Object.fromEntries(answers) as Json;
}

/** A schema as the description shows it: those with names stand once, among the components. */
function reference(schema: TSchema, schemas: Json): unknown {
  const name = nameOf(schema);
  if (name === undefined) return plain(schema, schemas);
  schemas[name] ??= plain(schema, schemas);
  return { $ref: `#/components/schemas/${name}` };
}

function plain(schema: unknown, schemas: Json): unknown {
  if (Array.isArray(schema)) return schema.map((item: unknown) => plain(item, schemas));
  if (schema === null || typeof schema !== "object") return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, isSchema(value) ? reference(value, schemas) : plain(value, schemas)]),
  );
}

function isSchema(value: unknown): value is TSchema {
  return typeof value === "object" && value !== null && nameOf(value) !== undefined;
}

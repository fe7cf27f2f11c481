import type { Description } from "../platform/http/description.ts";

type Json = Record<string, unknown>;

type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: Json };

type Content = Record<string, { schema: Json; example?: unknown; examples?: Record<string, { value: unknown }> }>;

/** An operation of the description with its references replaced by what they refer to. */
export type InlinedOperation = {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  deprecated?: boolean;
  parameters: Parameter[];
  requestBody?: { description: string; content: Content };
  responses: Record<string, { description: string; content?: Content }>;
  "x-codeSamples": { lang: string; label: string; source: string }[];
};

/** The operation at a path with a method, in capitals. */
export function inlinedOperation(description: Description, path: string, method: string): InlinedOperation {
  return inlined(description, description.paths[path]?.[method.toLowerCase()]) as InlinedOperation;
}

/** The schemas of the description are not recursive, so this ends. */
function inlined(description: Description, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => inlined(description, item));
  if (value === null || typeof value !== "object") return value;
  if ("$ref" in value && typeof value.$ref === "string") {
    const steps = value.$ref.slice(2).split("/");
    return inlined(
      description,
      steps.reduce<unknown>((part, step) => (part as Json)[step], description),
    );
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, inlined(description, member)]));
}

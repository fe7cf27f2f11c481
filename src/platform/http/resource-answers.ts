import type { TSchema } from "typebox";
import type { AnswerDescription, Example } from "./operation.ts";

/** Content types of a JSON merge patch (RFC 7396). The description has the first one alone, because many generators take no more. */
export const mergePatch = ["application/json", "application/merge-patch+json"];

/** A page of a list. */
export function listed(description: string, schema: TSchema, example: Example): AnswerDescription {
  return { description, schema, example, headers: ["Link"] };
}

/** One resource as it stands. */
export function resource(description: string, schema: TSchema, example: Example): AnswerDescription {
  return { description, schema, example, headers: ["ETag"] };
}

/** A resource that did not exist before. */
export function created(description: string, schema: TSchema, example: Example): AnswerDescription {
  return { description, schema, example, headers: ["Location", "ETag"] };
}

/** The answer to a deletion, which has no body. */
export function deleted(description: string): AnswerDescription {
  return { description };
}

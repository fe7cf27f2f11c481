import type { Schemas } from "./api.gen.ts";
import { Problem, type ProblemCode } from "../src/platform/problem.ts";

/** A failed response as `openapi-fetch` returns it: `error` is its body, parsed if it is JSON. */
export type Refused = { error?: unknown; response: Response };

/** Converts a failed response to a Problem; if its body is not the service's Error, the message has only the status. */
export function refusal({ error, response }: Refused): Problem {
  const { code, message, details, challenge } = (error ?? {}) as Record<"code" | "message", unknown> & Partial<Schemas["Error"]>;
  if (typeof message !== "string") return new Problem("internal", `The server answered ${response.status}. Is it a pet store's address?`);
  const known = (typeof code === "string" ? code : "internal") as ProblemCode;
  return new Problem(known, message, { ...(Array.isArray(details) && { details }), ...(challenge && { challenge }) });
}

/** The `code` of a response's Error; undefined for any other body. Leaves the response readable. */
export async function codeOf(answer: Response): Promise<string | undefined> {
  const body: unknown = await answer
    .clone()
    .json()
    .catch(() => undefined);
  const code = (body as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}

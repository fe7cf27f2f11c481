import type { Schemas } from "./api.gen.ts";
import { Problem, type ProblemCode } from "../src/platform/problem.ts";

/** An answer that is no success, as `openapi-fetch` gives it: `error` is its body, parsed where it is JSON. */
export type Refused = { error?: unknown; response: Response };

/** The answer as the Problem that it reports; of a body that is not the service's Error, only the status is told. */
export function refusal({ error, response }: Refused): Problem {
  const { code, message, details, challenge } = (error ?? {}) as Record<"code" | "message", unknown> & Partial<Schemas["Error"]>;
  if (typeof message !== "string") return new Problem("internal", `The server answered ${response.status}. Is it a pet store's address?`);
  const known = (typeof code === "string" ? code : "internal") as ProblemCode;
  return new Problem(known, message, { ...(Array.isArray(details) && { details }), ...(challenge && { challenge }) });
}

/** The `code` of an answer's Error; undefined where its body is something else. The answer can still be read. */
export async function codeOf(answer: Response): Promise<string | undefined> {
  const body: unknown = await answer
    .clone()
    .json()
    .catch(() => undefined);
  const code = (body as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}

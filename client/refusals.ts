import type { Schemas } from "./api.gen.ts";
import { PetStoreError, type ErrorCode } from "./errors.ts";

/** A failed response as `openapi-fetch` returns it: `error` is its body, parsed if it is JSON. */
export type Refused = { error?: unknown; response: Response };

/** Converts a failed response to an error; if its body is not the service's Error, the message has only the status. */
export function refusal({ error, response }: Refused): PetStoreError {
  const { code, message, details, challenge } = (error ?? {}) as Record<"code" | "message", unknown> & Partial<Schemas["Error"]>;
  const { status } = response;
  const requestId = response.headers.get("x-request-id") ?? undefined;
  const seen = { status, ...(requestId !== undefined && { requestId }) };
  if (typeof message !== "string" && status === 413) return new PetStoreError("payload_too_large", proxyLimit(response), seen);
  if (typeof message !== "string")
    return new PetStoreError("internal", `The server answered ${status}. Is it a pet store's address?`, seen);
  const known: ErrorCode = typeof code === "string" ? code : "internal";
  return new PetStoreError(known, message, { ...seen, ...(Array.isArray(details) && { details }), ...(challenge && { challenge }) });
}

function proxyLimit({ url }: Response): string {
  const at = URL.canParse(url) ? ` ${new URL(url).host}` : "";
  return `A proxy in front of the service at${at || " this address"} refused the body as too large. Raise its limit to at least 50 MiB (nginx: client_max_body_size 51m).`;
}

/** Returns the `code` of a response's Error, or undefined for any other body. The response's body can still be read afterwards. */
export async function codeOf(answer: Response): Promise<string | undefined> {
  const body: unknown = await answer
    .clone()
    .json()
    .catch(() => undefined);
  const code = (body as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}

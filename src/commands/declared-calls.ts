import type { PetStore } from "../../client/client.ts";
import { refusal, type Refused } from "../../client/refusals.ts";
import { numeric } from "./command.ts";
import type { Value } from "./operation-table.ts";

/** `path` is below `/v1`, with its query. `body` is sent as it is. */
export type Call = { method: string; path: string; headers?: Record<string, string>; body?: string | Uint8Array };

/** Calls any operation of the service, waiting for its limits. Returns the answer, with its body still to be read. @throws PetStoreError */
export async function call(client: PetStore, { method, path, headers = {}, body }: Call): Promise<Response> {
  // The path of a call is not one of the client's types, which know templates alone.
  const request = client.request as unknown as (method: string, path: string, init: object) => Promise<Refused>;
  const init = { parseAs: "stream", headers, ...(body !== undefined && { body, bodySerializer: (sent: unknown) => sent }) };
  const answer = await request(method.toLowerCase(), path, init);
  if (!answer.response.ok) throw refusal(answer);
  return answer.response;
}

/** The value of an option or a field, as its declaration wants it. Text that does not fit is sent as it is, so that the service refuses it by name. */
export function typed(text: string, declared: Pick<Value, "kind"> | undefined): unknown {
  if (declared?.kind === "number") return numeric(text);
  if (declared?.kind === "boolean") return text === "true" ? true : text === "false" ? false : text;
  if (declared?.kind !== "json") return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

import type { Schemas } from "../../client/api.gen.ts";
import type { PetStore } from "../../client/client.ts";
import { pages } from "../../client/pages.ts";
import { refusal, type Refused } from "../../client/refusals.ts";
import { Problem } from "../platform/problem.ts";
import { numeric } from "./command.ts";
import type { Value } from "./operation-table.ts";

/** Longer than other calls: a packed folder may have 50 MiB. */
const uploadMs = 10 * 60_000;

/** Returns the body of a response. @throws PetStoreError if the service refuses the call */
export async function answered<T>(answering: Promise<Refused & { data?: T }>): Promise<T> {
  const answer = await answering;
  if (!answer.response.ok) throw refusal(answer);
  return answer.data as T;
}

/**
 * Creates something, or finds it if it exists already, as a refusal with `code` says.
 *
 * @throws the refusal if it belongs to another account, so that `find` finds nothing
 */
export async function unlessExists<T>(
  create: () => Promise<T>,
  code: string,
  find: () => Promise<T>,
): Promise<{ created: boolean; found: T }> {
  try {
    return { created: true, found: await create() };
  } catch (refused) {
    if ((refused as { code?: unknown }).code !== code) throw refused;
    const found = await find().catch((error: { code?: unknown }) => {
      throw error.code === "not_found" ? refused : error;
    });
    return { created: false, found };
  }
}

/** Finds a project by its slug. @throws Problem `not_found` */
export async function projectBySlug(client: PetStore, slug: string): Promise<Schemas["Project"]> {
  for await (const page of pages(client, "/projects")) {
    const found = page.find((project) => project.slug === slug);
    if (found) return found;
  }
  throw new Problem("not_found", `There is no project ${slug}.`);
}

/** Sends a packed folder without retries, which could deploy it twice. @throws Problem if the service refuses it; `unavailable` if there is no response */
export async function upload(client: PetStore, key: string, projectId: number, packed: Buffer): Promise<Schemas["Deployment"]> {
  const { isZip } = await import("../platform/archives/zip-reader.ts");
  const response = await fetch(`${client.url}/v1/projects/${projectId}/deployments`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": isZip(packed) ? "application/zip" : "application/gzip" },
    body: new Uint8Array(packed),
    redirect: "manual",
    signal: AbortSignal.timeout(uploadMs),
  }).catch((error: Error) => {
    throw new Problem("unavailable", `The upload broke off (${error.message}). Is the service at ${client.url} running?`);
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (response.status !== 202) throw refusal({ error: body, response });
  return body as Schemas["Deployment"];
}

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

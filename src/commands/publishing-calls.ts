import type { Schemas } from "../../client/api.gen.ts";
import type { PetStore } from "../../client/client.ts";
import { pages } from "../../client/pages.ts";
import { refusal, type Refused } from "../../client/refusals.ts";
import { isZip } from "../platform/archives/zip-reader.ts";
import { Problem } from "../platform/problem.ts";

/** Longer than other calls: a packed folder may have 50 MiB. */
const uploadMs = 10 * 60_000;

/** Returns the body of a response. @throws PetStoreError if the service refuses the call */
export async function answered<T>(call: Promise<Refused & { data?: T }>): Promise<T> {
  const answer = await call;
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

import { setTimeout as wait } from "node:timers/promises";
import { openClient, pages, refusal } from "../../client/http.ts";
import { systemClock } from "../platform/clock.ts";
import { Problem } from "../platform/problem.ts";
import type { Connect } from "./connection.ts";

const uploadMs = 10 * 60_000;

/** Calls of the API that raise its refusals. */
export async function openApiCalls({ url, key }: Connect) {
  const client = openClient({ url, key, wait: (ms) => wait(ms), now: systemClock });

  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await client.request(method, path, body === undefined ? {} : { body });
    if (answer.status >= 300) throw refusal(answer);
    return answer.body as T;
  }

  /** The project of this slug. @throws Problem `not_found` */
  async function projectBySlug<T extends { slug: string }>(slug: string): Promise<T> {
    for await (const page of pages(client, "/projects")) {
      const found = (page as T[]).find((project) => project.slug === slug);
      if (found) return found;
    }
    throw new Problem("not_found", `There is no project ${slug}.`);
  }

  async function upload<T>(path: string, packed: Buffer): Promise<T> {
    const response = await fetch(`${client.url}/v1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/gzip" },
      body: new Uint8Array(packed),
      redirect: "manual",
      signal: AbortSignal.timeout(uploadMs),
    });
    const body: unknown = await response.json().catch(() => undefined);
    if (response.status !== 202) throw refusal({ status: response.status, headers: response.headers, body });
    return body as T;
  }

  /** Every item of a list. */
  async function all<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    for await (const page of pages(client, path)) items.push(...(page as T[]));
    return items;
  }

  return { call, projectBySlug, upload, all };
}

import { request } from "node:http";
import { buffer } from "node:stream/consumers";
import type { TestService } from "./service.ts";
import { made } from "./shop.ts";
import { packSite } from "./sites.ts";

export type Visit = { status: number; headers: Record<string, unknown>; body: string; bytes: Buffer };

/** Publishes a built-in storefront, with further files, at a slug. */
export async function openStorefront(
  service: TestService,
  slug: string,
  storefront: object,
  { files = {}, name = "Rex & Co.", key = service.key }: { files?: Record<string, string>; name?: string; key?: string } = {},
): Promise<{ id: number; url: string }> {
  const project = await made<{ id: number; url: string }>(service, "POST", "/projects", { name: slug, slug }, key);
  const body = await packSite({ ...files, "petstore.json": JSON.stringify({ name, storefront }) });
  await service.ask("POST", `/projects/${project.id}/deployments`, { body, headers: { "content-type": "application/gzip" }, key });
  await service.publishing.idle();
  return project;
}

/** Fetches an address of the edge, which no name server knows. */
export async function visitSite(url: string, path = "/", headers: Record<string, string> = {}, method = "GET"): Promise<Visit> {
  const { promise, resolve, reject } = Promise.withResolvers<Visit>();
  const { port, host } = new URL(url);
  request({ host: "127.0.0.1", port, path, method, headers: { host, ...headers }, agent: false }, (response) => {
    buffer(response).then(
      (bytes) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: bytes.toString(), bytes }),
      reject,
    );
  })
    .on("error", reject)
    .end();
  return promise;
}

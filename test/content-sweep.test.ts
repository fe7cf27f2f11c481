import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Deployment } from "../src/publishing/projects/deployments.ts";
import type { Project } from "../src/publishing/projects/projects.ts";
import { startService, type TestService } from "./support/service.ts";
import { made } from "./support/shop.ts";
import { packSite } from "./support/sites.ts";

let service: TestService;
before(async () => {
  service = await startService();
  await service.ready;
});
after(() => service.close());

const compressible = (text: string) => text.repeat(1000);

/** How many files of content are on the disk, compressed forms included. */
function kept(): number {
  const entries = readdirSync(join(service.dataDir, "content"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}

async function deploy(projectId: number, files: Record<string, string>, petstore: object = {}, key = service.key): Promise<Deployment> {
  const body = await packSite({ ...files, "petstore.json": JSON.stringify(petstore) });
  const headers = { "content-type": "application/gzip" };
  const { body: sent } = await service.ask<Deployment>("POST", `/projects/${projectId}/deployments`, { key, body, headers });
  await service.publishing.idle();
  return made<Deployment>(service, "GET", `/projects/${projectId}/deployments/${sent.id}`, undefined, key);
}

const newProject = (slug: string, key = service.key) => made<Project>(service, "POST", "/projects", { name: slug, slug }, key);

test("the content of a deleted project is deleted from the disk automatically, except content that another project shares", async () => {
  const [one, other] = [await newProject("one"), await newProject("other")];
  await deploy(other.id, { "index.html": compressible("shared ") });
  const shared = kept();
  await deploy(one.id, { "index.html": compressible("shared "), "own.html": compressible("own "), "small.txt": "small" });
  assert.equal(kept(), shared + 4, "two plain files, and two compressed forms of the larger");
  await made(service, "DELETE", `/projects/${one.id}`);
  await service.publishing.idle();
  assert.equal(kept(), shared);
  await made(service, "DELETE", `/projects/${other.id}`);
  await service.publishing.idle();
  assert.equal(kept(), 0);
});

test("a deployment that is refused after it was unpacked leaves nothing on the disk", async () => {
  const free = await service.newAccount("free");
  const project = await newProject("free", free.key);
  const { status } = await deploy(project.id, { "index.html": "free" }, { domains: { primary: "www.free.test" } }, free.key);
  assert.equal(status, "failed");
  assert.equal(kept(), 0);
});

test("the content of deployments that are no longer kept is deleted", async () => {
  const project = await newProject("often");
  for (let i = 0; i < 15; i++) await deploy(project.id, { "index.html": `version ${i}` });
  await service.publishing.idle();
  assert.equal(kept(), 10);
});

test("content that is published again before it is deleted from the disk stays", async () => {
  const project = await newProject("again");
  await deploy(project.id, { "index.html": "to come back" });
  const there = kept();
  await made(service, "DELETE", `/projects/${project.id}`);
  const anew = await newProject("again");
  await deploy(anew.id, { "index.html": "to come back" });
  assert.equal(kept(), there);
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startBrowser } from "./support/browser.ts";
import { root } from "./support/packages.ts";
import { startService } from "./support/service.ts";

const swaggerUi = fileURLToPath(import.meta.resolve("swagger-ui-dist"));

test("Swagger UI by the example shows every group that has operations, and no other", async (t) => {
  const service = await startService();
  t.after(() => service.close());
  const server = createServer(({ url = "/" }, response) => {
    const path = normalize(url.split("?")[0]!);
    const file = path.startsWith("/swagger-ui-dist/") ? join(swaggerUi, "../..", path) : join(root, "examples", path);
    if (!existsSync(file) || !statSync(file).isFile()) return void response.writeHead(404).end();
    const type = file.endsWith(".css") ? "text/css" : file.endsWith(".js") ? "text/javascript" : "text/html";
    createReadStream(file).pipe(response.writeHead(200, { "content-type": type }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const browser = await startBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/swagger-ui.html?service=${service.address}`);
  await page.waitForSelector(".opblock-tag");
  const shown = await page.evaluate("[...document.querySelectorAll('.opblock-tag')].map((tag) => tag.dataset.tag)");
  const { tags, paths } = (await (await fetch(`${service.address}/openapi.json`)).json()) as {
    tags: { name: string }[];
    paths: Record<string, Record<string, { tags?: string[] }>>;
  };
  const used = new Set(Object.values(paths).flatMap((methods) => Object.values(methods).flatMap((operation) => operation.tags ?? [])));
  const groups = tags.map(({ name }) => name);
  assert.deepEqual(
    shown,
    groups.filter((name) => used.has(name)),
  );
  assert.ok(groups.length > shown.length, "the description has groups without operations");
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./support/folder.ts";
import { startNginx } from "./support/nginx.ts";
import { freePorts } from "./support/ports.ts";
import { addressOf, keyIn, spawnServer } from "./support/process.ts";
import { pathOf } from "./support/programs.ts";
import { ask } from "./support/service.ts";
import { packSite } from "./support/sites.ts";
import { until } from "./support/until.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const recipe = (name: string): string => readFileSync(join(root, "deploy", name), "utf8");

/** Whether any user can read a folder. */
const isOpen = (path: string): boolean => path === "/" || ((statSync(path).mode & 0o005) === 5 && isOpen(dirname(path)));

test("the image has all that the service needs: it runs from these files alone, which it cannot write, without privileges", async (t) => {
  const image = join(temporaryFolder(t), "petstore");
  const data = join(image, "..", "data");
  mkdirSync(join(image, "node_modules"), { recursive: true });
  mkdirSync(data);
  const kept = readFileSync(join(root, ".dockerignore"), "utf8").matchAll(/^!(.+)$/gm);
  const copied = [...kept].map(([, name = ""]) => name).filter((name) => name !== "web"); // the build needs it
  const isLeftOut = (path: string): boolean => /\/node_modules$|\.test\.tsx?$/.test(path);
  for (const name of copied) cpSync(join(root, name), join(image, name), { recursive: true, filter: (path) => !isLeftOut(path) });
  const installed = readdirSync(join(root, "node_modules")).filter((name) => !name.startsWith(".") && !name.startsWith("node-linux-"));
  for (const name of installed) symlinkSync(join(root, "node_modules", name), join(image, "node_modules", name));

  const env: Record<string, string> = Object.fromEntries(
    [...(/^ENV (.+)$/m.exec(recipe("Containerfile"))?.[1] ?? "").matchAll(/(\w+)=(\S+)/g)].map(
      ([, name = "", value = ""]) => [name, value] as const,
    ),
  );
  const [port = 0, http = 0, https = 0] = await freePorts(3);
  const own = {
    HOST: "127.0.0.1",
    PORT: `${port}`,
    EDGE_HTTP_PORT: `${http}`,
    EDGE_HTTPS_PORT: `${https}`,
    DATA_DIR: join(data, "petstore"),
  };
  const unprivileged = process.getuid?.() === 0 && isOpen(root) && isOpen(dirname(process.execPath)) ? { uid: 1000, gid: 1000 } : {};
  if (unprivileged.uid !== undefined) {
    chownSync(data, 1000, 1000);
    chmodSync(dirname(image), 0o755);
  }
  const [entry, ...args] = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(recipe("Containerfile"))?.[1] ?? "[]") as string[];
  assert.equal(entry, "node");
  const child = spawn(process.execPath, [...args, "serve"], {
    cwd: image,
    env: { ...env, ...own },
    stdio: ["ignore", "pipe", "inherit"],
    ...unprivileged,
  });
  t.after(() => child.kill("SIGKILL"));
  child.stdout.resume();
  await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok === true);
  const [, ...check] = JSON.parse(/^HEALTHCHECK .*CMD (.+)$/m.exec(recipe("Containerfile"))?.[1] ?? "[]") as string[];
  const health = spawn(
    process.execPath,
    check.map((word) => word.replace(":8080", `:${port}`)),
  );
  assert.deepEqual(await once(health, "exit"), [0, null]);
  if (unprivileged.uid !== undefined) assert.equal(statSync(join(data, "petstore")).uid, 1000);
  child.kill("SIGINT");
  assert.deepEqual(await once(child, "exit"), [0, null]);
});

test("behind nginx as in the recipe, large deployments pass, sites are served, and nobody outside reads /metrics", async (t) => {
  const nginx = pathOf(t, "nginx");
  if (nginx === undefined) return;
  const [edgeHttp = 0, edgeHttps = 0] = await freePorts(2);
  const ports = { EDGE_HTTP_PORT: `${edgeHttp}`, EDGE_HTTPS_PORT: `${edgeHttps}` };
  const server = spawnServer(t, temporaryFolder(t), { ...ports, TRUSTED_PROXIES: "127.0.0.1", METRICS: "127.0.0.1" });
  const address = await addressOf(server);
  const key = keyIn(server.out());
  const api = Number(new URL(address).port);
  const [apiPort = 0, edgePort = 0] = await startNginx(t, nginx, recipe("compose.nginx.conf"), {
    8080: api,
    8081: edgeHttp,
    8443: edgeHttps,
  });
  const outside = `http://127.0.0.1:${apiPort}`;

  assert.equal((await fetch(`${address}/metrics`)).status, 200, "this machine may read them");
  for (const path of ["/metrics", "/metrics?x", "//metrics", "/%6detrics", "/metrics/", "/Metrics"]) {
    const { status } = await fetch(`${outside}${path}`, { headers: { "x-forwarded-for": "127.0.0.1" } });
    assert.equal(status, 404, path);
  }

  const { body } = await ask<{ id: number }>(`${outside}/v1/projects`, "POST", { key, body: { name: "Site", slug: "site" } });
  const noise = Array.from({ length: (3 * 2 ** 20) / 16 }, () => Math.random().toString(36).padEnd(16, "0").slice(0, 16)).join("");
  const archive = await packSite({ "index.html": "hello", "large.jpg": noise, "petstore.json": "{}" });
  assert.ok(archive.length > 1_048_576, "more than nginx allows by default");
  const sent = await ask(`${outside}/v1/projects/${body.id}/deployments`, "POST", {
    key,
    body: archive,
    headers: { "content-type": "application/gzip" },
  });
  assert.equal(sent.status, 202, JSON.stringify(sent.body));
  await until(async () => (await visit(edgePort)) === 200);
});

/** The status of the site's page. */
async function visit(port: number): Promise<number> {
  const asked = request({ host: "127.0.0.1", port, path: "/", headers: { host: "site.petstore.localhost" }, agent: false }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

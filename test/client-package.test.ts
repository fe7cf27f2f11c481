import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startBrowser } from "./support/browser.ts";
import { installPackage, otherNodes, root, run } from "./support/packages.ts";
import { startService, type TestService } from "./support/service.ts";

let service: TestService;
/** An empty project, into which the packed client is installed. */
let project: string;
before(async () => {
  [service, project] = await Promise.all([startService(), installPackage("./client")]);
});
after(async () => {
  await service.close();
  rmSync(project, { recursive: true });
});

const installed = (name: string): string => readFileSync(join(project, "node_modules/petstore-client", name), "utf8");

test("the package has the product's version, needs no other package, and imports nothing", () => {
  const manifest = JSON.parse(installed("package.json")) as { version: string; dependencies?: object };
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  assert.deepEqual([manifest.version, manifest.dependencies], [version, undefined]);
  assert.doesNotMatch(installed("dist/index.js"), /^\s*import\b|\bimport\(|\brequire\(/m);
  for (const name of ["index", "client", "openapi-fetch"]) {
    for (const [, from = ""] of installed(`dist/${name}.d.ts`).matchAll(/from ["']([^"']+)["']/g)) assert.match(from, /^\.\//, name);
  }
  assert.match(installed("dist/LICENSE"), /Drew Powers/, "the licence of what is bundled");
});

/** What each block of JavaScript of the README prints, in their order. */
const prints = [
  "Bella\nLuna\nRex\nunknown_reference\n",
  "pet.created Rex\npet.created Bella\npet.created Luna\n",
  "order.created\nWebhookError\n",
];

test("all code of its README runs in the pinned Node, and in an older one that the system has", async (t) => {
  const readme = readFileSync(join(root, "client/README.md"), "utf8");
  const blocks = Array.from(readme.matchAll(/^```(\w*)\n(.*?)^```$/gms), ([, language = "", code = ""]) => ({ language, code }));
  const [scripts, others] = [blocks.filter(({ language }) => language === "js"), blocks.filter(({ language }) => language !== "js")];
  assert.equal(scripts.length, prints.length, "each block has what it prints above");
  for (const node of [process.execPath, ...otherNodes()]) {
    const { key } = await service.newAccount();
    for (const [i, { code: script }] of scripts.entries()) {
      writeFileSync(join(project, `block-${i}.mjs`), script);
      const child = spawn(node, [`block-${i}.mjs`], { cwd: project, env: { BASE_URL: `${service.address}/v1`, API_KEY: key } });
      const { code, out, error } = await run(child);
      const ended = i === 1 ? out.split("\n").toSorted() : out.split("\n");
      const expected = i === 1 ? prints[i]!.split("\n").toSorted() : prints[i]!.split("\n");
      assert.deepEqual([code, ended, error], [0, expected, ""], `${node}: block ${i}`);
    }
    t.diagnostic(`ran in ${node}`);
  }
  // installPackage has run these commands
  assert.deepEqual(
    others.map(({ language }) => language),
    ["console"],
  );
  const tarball = readdirSync(project).find((name) => name.endsWith(".tgz")) ?? "";
  assert.ok(others[0]!.code.startsWith(`$ npm pack ./client\n${tarball}\n`) && others[0]!.code.endsWith(`/${tarball}\n`));
});

/** Compiles files of the project strictly, as those of a package of this kind. */
async function compile(type: "module" | "commonjs", files: Record<string, string>, types: string[] = []): Promise<void> {
  for (const [name, code] of Object.entries(files)) writeFileSync(join(project, name), code);
  writeFileSync(join(project, "package.json"), JSON.stringify({ type }));
  const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit"];
  const options = [
    ...strict,
    "--target",
    "es2022",
    "--module",
    "node16",
    "--lib",
    "es2022,dom,dom.iterable",
    "--typeRoots",
    join(root, "node_modules/@types"),
    "--types",
    types.join(","),
  ];
  const args = [join(root, "node_modules/@typescript/native/bin/tsc"), ...options, ...Object.keys(files)];
  const { code, out } = await run(spawn(process.execPath, args, { cwd: project }));
  assert.deepEqual([code, out], [0, ""], type);
}

test("the code of its README is strict TypeScript, as ES modules and as CommonJS", async () => {
  const blocks = Array.from(
    readFileSync(join(root, "client/README.md"), "utf8").matchAll(/^```js\n(.*?)^```$/gms),
    ([, code = ""]) => code,
  );
  const inFunction = (code: string): string => {
    const imports = code.match(/^import .*$/gm) ?? [];
    return `${imports.join("\n")}\nexport async function run() {\n${code.replaceAll(/^import .*$/gm, "")}\n}\n`;
  };
  assert.equal(blocks.length, prints.length);
  await compile("module", Object.fromEntries(blocks.map((code, i) => [`block-${i}.ts`, code])), ["node"]);
  await compile("commonjs", Object.fromEntries(blocks.map((code, i) => [`block-${i}.ts`, inFunction(code)])), ["node"]);
});

test("a program of CommonJS requires it", async () => {
  writeFileSync(join(project, "required.cjs"), 'console.log(typeof require("petstore-client").openClient);\n');
  for (const node of [process.execPath, ...otherNodes()])
    assert.deepEqual(await run(spawn(node, ["required.cjs"], { cwd: project })), { code: 0, out: "function\n", error: "" });
});

test("its types compile in strict mode without those of Node, and find a misspelt code, path or field", async () => {
  const calls = `
    import { events, openClient, pages, PetStoreError, refusal, rows, type ErrorCode, type Schemas } from "petstore-client";
    const client = openClient({ url: "http://localhost", key: "k" });
    const made = await client.POST("/pets", { body: { name: "Rex", categoryId: 1 } });
    if (made.error) {
      const code: ErrorCode = made.error.code;
      // @ts-expect-error misspelt
      if (code === "insuficient_stock") throw refusal(made);
    } else {
      const pet: Schemas["Pet"] = made.data;
      // @ts-expect-error no such field
      console.log(pet.nam);
    }
    for await (const page of pages(client, "/store/orders")) console.log(page.length);
    for await (const row of rows(client, "/projects/{projectId}/domains", {}, { projectId: 1 })) console.log(row.hostname);
    for await (const row of rows(client, "/pets", { status: "available", id: [1, 2] })) console.log(row.name);
    // @ts-expect-error no such status
    rows(client, "/pets", { status: "lost" });
    for await (const event of events(client, { types: ["order.*", "pet.created"], follow: false })) {
      if (event.type === "order.created") console.log(event.data.id.toFixed(), event.data.quantity);
      if (event.type === "pet.profile_updated") console.log(event.data.photos.length);
      if (event.type === "domain.attention") console.log(event.data.hostname, event.data.troubles?.length);
      // @ts-expect-error an inventory item has no name
      if (event.type === "inventory.low") console.log(event.data.name);
      // @ts-expect-error no such type
      if (event.type === "pet.creatd") console.log(event);
    }
    // @ts-expect-error no such path
    client.GET("/pet");
    try { await client.GET("/pets"); } catch (error) { if (error instanceof PetStoreError && error.code === "unavailable") throw error; }
  `;
  await compile("module", { "calls.ts": calls });
});

test("a browser imports it without a bundler, and calls the service from another origin", async (t) => {
  const script = `
    import { openClient, rows } from "/index.js";
    const found = [];
    for await (const { name } of rows(openClient(window.connection), "/categories")) found.push(name);
    window.found = found;`;
  const pages: Record<string, [type: string, body: string]> = {
    "/": ["text/html", "<!doctype html><title>shop</title>"],
    "/index.js": ["text/javascript", installed("dist/index.js")],
    "/main.js": ["text/javascript", script],
  };
  const server = createServer(({ url = "" }, response) => {
    const [type, body] = pages[url] ?? ["text/plain", ""];
    response.writeHead(body === "" ? 404 : 200, { "content-type": type }).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { key } = await service.newAccount();
  await service.ask("POST", "/categories", { key, body: { name: "Parrots" } });
  const browser = await startBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await page.evaluate(`window.connection = ${JSON.stringify({ url: service.address, key })}`);
  await page.addScriptTag({ type: "module", url: "/main.js" });
  assert.deepEqual(await (await page.waitForFunction("window.found")).jsonValue(), ["Parrots"]);
});

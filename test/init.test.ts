import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parseStorefront } from "../src/publishing/storefront/settings.ts";
import { petstore } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { startService, type TestService } from "./support/service.ts";
import { visitSite } from "./support/storefront.ts";

const publicUrl = "https://shop.example.com";
let service: TestService;
before(async () => {
  service = await startService({ env: { PUBLIC_URL: publicUrl } });
});
after(() => service.close());

const key = `psp_${"0".repeat(36)}`;
const keysOf = async () => (await service.administration["keys.list"]({ account: service.accountId })).keys;

test("init writes a page for the shop with the key and address that it is given, and says how to publish it", async (t) => {
  const folder = join(temporaryFolder(t), "Rex und Söhne");
  const { code, out } = await petstore(service, "init", folder, "--key", key, "--url", "https://pets.example.com/v1/");
  assert.equal(code, 0);
  assert.match(out, /projects create rex-und-sohne --name 'Rex und Söhne'/);
  assert.ok(out.includes(`deploy '${folder}' --project rex-und-sohne`), out);
  assert.ok(out.includes("export PETSTORE_URL=https://pets.example.com PETSTORE_KEY="), out);
  assert.deepEqual(readdirSync(folder).toSorted(), ["404.html", "index.html", "petstore.json", "shop.css", "shop.js"]);
  assert.deepEqual(JSON.parse(readFileSync(join(folder, "petstore.json"), "utf8")), { name: "Rex und Söhne", domains: {} });
  const page = readFileSync(join(folder, "index.html"), "utf8");
  assert.ok(page.includes(`<meta name="petstore-key" content="${key}" />`));
  assert.ok(page.includes(`<meta name="petstore-url" content="https://pets.example.com" />`));
  assert.ok(!/\{\{/.test(page), "no blank is left");
});

test("with --account, init gets a publishable key and the public address from the running service", async (t) => {
  const folder = join(temporaryFolder(t), "site");
  const { code, out } = await petstore(service, "init", folder, "--account", String(service.accountId), "--name", "A <b>", "--json");
  assert.equal(code, 0);
  const made = JSON.parse(out) as { key: string; url: string };
  assert.equal(made.url, publicUrl);
  assert.equal((await service.ask("GET", "/pets", { key: made.key })).status, 200);
  assert.equal((await service.ask("POST", "/categories", { key: made.key, body: { name: "Dogs" } })).status, 403);
  const page = readFileSync(join(folder, "index.html"), "utf8");
  assert.ok(page.includes(made.key) && page.includes(`<h1>A &#60;b&#62;</h1>`), "a name is text");
});

test("with --key, init names the service that the commands call, unless it is given an address", async (t) => {
  const folder = temporaryFolder(t);
  const url = async (name: string, ...words: string[]) =>
    (JSON.parse((await petstore(service, "init", join(folder, name), ...words, "--json")).out) as { url: string }).url;
  assert.equal(await url("a", "--key", key), service.address);
  assert.equal(await url("b", "--account", String(service.accountId), "--url", "https://pets.example.com"), "https://pets.example.com");
});

test("init overwrites nothing, names the files in the way, and then makes no key", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "index.html"), "mine");
  const earlier = await keysOf();
  const { code, error } = await petstore(service, "init", folder, "--account", String(service.accountId));
  assert.equal(code, 2);
  assert.ok(error.includes(`${join(folder, "index.html")} already exists`), error);
  assert.deepEqual([readdirSync(folder), readFileSync(join(folder, "index.html"), "utf8")], [["index.html"], "mine"]);
  assert.equal((await keysOf()).length, earlier.length);
});

test("a folder that holds only hidden files counts as empty", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, ".git"));
  assert.equal((await petstore(service, "init", folder, "--key", key)).code, 0);
});

test("without a key init writes the settings of a storefront, which is served from the catalogue as soon as it is deployed", async (t) => {
  const folder = join(temporaryFolder(t), "plain");
  const earlier = await keysOf();
  const { code, out, error } = await petstore(service, "init", folder, "--name", "Rex & Co.");
  assert.deepEqual([code, readdirSync(folder)], [0, ["petstore.json"]], error);
  assert.match(out, /Created in .*: petstore\.json\.\n\nIts petstore\.json holds the colour/);
  assert.ok(out.includes(`export PETSTORE_URL=${service.address} `), out);
  assert.equal((await keysOf()).length, earlier.length, "it needs no key");
  const settings = JSON.parse(readFileSync(join(folder, "petstore.json"), "utf8")) as { storefront: { colour: string } };
  assert.equal(settings.storefront.colour, parseStorefront({}, assert.fail).colour);
  assert.deepEqual(Object.keys(settings.storefront), ["colour", "tagline", "about", "contact", "hours"]);
  assert.equal((await petstore(service, "projects", "create", "plain")).code, 0);
  const deployed = await petstore(service, "deploy", folder, "--project", "plain", "--json");
  assert.deepEqual([deployed.code, deployed.error.includes("index.html")], [0, false], deployed.error);
  const { body, status } = await visitSite((JSON.parse(deployed.out) as { url: string }).url);
  assert.deepEqual([status, body.includes("Rex &#38; Co.")], [200, true]);
});

test("a secret key never gets into the page, and one key is enough", async (t) => {
  const folder = join(temporaryFolder(t), "site");
  const secret = await petstore(service, "init", folder, "--key", service.key);
  assert.equal(secret.code, 2);
  assert.ok(secret.error.includes("everybody can read the page") && !secret.error.includes(service.key), secret.error);
  const both = await petstore(service, "init", folder, "--key", key, "--account", "1");
  assert.deepEqual([both.code, both.error.includes("one of them is enough")], [2, true]);
  for (const wrong of ["ftp://x", "https://pets.example.com/shop", "pets"]) {
    const refused = await petstore(service, "init", folder, "--key", key, "--url", wrong);
    assert.deepEqual([refused.code, refused.error.includes("--url")], [2, true], wrong);
  }
  assert.throws(() => readdirSync(folder), "nothing was written");
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../support/folder.ts";
import { startLaterVersion, type LaterVersion } from "../support/later-version.ts";
import { picture } from "../support/pictures.ts";
import { startService, type TestService } from "../support/service.ts";
import { exampleSite, made } from "../support/shop.ts";

/*
 * `npm run test:clients`: runs the commands of docs/clients.md, each section in a folder of its own, with the programs of the folders beside this
 * file that the section links. They install from the registries of their languages, so `npm test` leaves them out.
 */

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(join(root, "docs/clients.md"), "utf8");
const [introduction = "", ...sections] = page.split(/^## /m);
const commandsIn = (text: string): string[] =>
  /^```sh\n(.*?)\n```$/ms
    .exec(text)?.[1]
    ?.split("\n")
    .filter((line) => line !== "") ?? [];
const download = commandsIn(introduction);

type Section = { title: string; programs: string[]; commands: string[] };
const clients: Section[] = sections
  .map((text) => ({
    title: text.split("\n", 1)[0]!,
    programs: Array.from(text.matchAll(/\]\(\.\.\/(test\/clients\/[^)]+)\)/g), ([, path = ""]) => path),
    commands: commandsIn(text),
  }))
  .filter(({ commands }) => commands.length > 0);

const commandMsMax = 15 * 60_000;
let service: TestService;
let laterVersion: LaterVersion;
let photo: Uint8Array;
before(async () => {
  service = await startService();
  laterVersion = await startLaterVersion(service.address);
  photo = await picture("teal", { width: 80, height: 60 });
});
after(async () => {
  await laterVersion.close();
  await service.close();
});

/** A shop whose events are of resources with numbers and with names, and an account with one request a minute: a key of each. */
async function newShop(): Promise<Record<string, string>> {
  const [{ id, key }, limited] = [await service.newAccount(), await service.newAccount("enterprise", { perMinute: 1, perDay: 1_000 })];
  const { id: projectId } = await made<{ id: number }>(service, "POST", "/projects", { name: "Happy Paws", slug: `happy-paws-${id}` }, key);
  const site = { key, body: await exampleSite(), headers: { "content-type": "application/gzip" } };
  assert.equal((await service.ask("POST", `/projects/${projectId}/deployments`, site)).status, 202);
  await service.publishing.idle();
  await made(service, "POST", `/projects/${projectId}/domains`, { hostname: `www.happy-paws-${id}.example` }, key);
  return { API_KEY: key, LIMITED_KEY: limited.key };
}

/** Runs commands one after another in a folder, and returns what they printed. Fails, with all output, if one fails. */
async function run(folder: string, commands: string[], env: Record<string, string>): Promise<string> {
  const path = [join(folder, ".venv", "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const child = spawn("bash", ["--norc", "-euo", "pipefail", "-c", commands.join("\n")], {
    env: { ...process.env, PATH: path, ...env },
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: commandMsMax,
  });
  let [out, all] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => ((out += text), (all += text)));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (all += text));
  const code = await new Promise((done) => child.once("close", done));
  assert.equal(code, 0, `${commands.join("\n")}\n${all.slice(-8_000)}`);
  return out;
}

/** The lines that a program prints for its shop. */
async function expected(key: string, { isLater }: { isLater: boolean }): Promise<string> {
  const events = await service.ask<{ type: string }[]>("GET", "/events?limit=100", { key });
  const shown = (value: string): string => (isLater ? "later_value" : value);
  return [
    "category Dogs",
    "pets Pet 1, Pet 2, Pet 3, Pet 4, Pet 5",
    "order 1 false",
    `refused 409 ${shown("insufficient_stock")}`,
    "photo 80 60 Rex on a lawn",
    `events ${events.body.map(({ type }) => shown(type)).join(" ")}`,
    `limited 429 ${shown("rate_limit_exceeded")} true`,
    "",
  ].join("\n");
}

suite("docs/clients.md", () => {
  test("shows each program of test/clients/, in a section with commands", () => {
    const shown = clients.flatMap(({ programs }) => programs);
    const files = globSync("test/clients/*/*", { cwd: root }).map((path) => path.replaceAll("\\", "/"));
    assert.deepEqual(shown.toSorted(), files.toSorted());
  });

  for (const { title, programs, commands } of clients) {
    test(`${title}: the client compiles, and does a shop's work with this version and with a later one`, async (t) => {
      const folder = temporaryFolder(t);
      for (const program of programs) cpSync(join(root, program), join(folder, basename(program)));
      writeFileSync(join(folder, "rex.jpg"), photo);
      const isPython = commands.some((command) => command.startsWith("pip "));
      const shop: Record<string, string> = { BASE_URL: `${service.address}/v1`, ...(await newShop()) };
      await run(folder, [...(isPython ? ["python3 -m venv .venv"] : []), ...download, ...commands.slice(0, -1)], shop);

      const program = commands.slice(-1);
      const printed = await run(folder, program, shop);
      if (programs.some((path) => path.endsWith("agent.py"))) return assert.equal(printed, agentLines);
      assert.equal(printed, await expected(shop["API_KEY"]!, { isLater: false }));
      const later: Record<string, string> = { BASE_URL: `${laterVersion.address}/v1`, ...(await newShop()) };
      assert.equal(await run(folder, program, later), await expected(later["API_KEY"]!, { isLater: true }));
    });
  }
});

const agentLines = [
  "missing []",
  "category Dogs",
  "pet Rex available",
  "stock 1 available",
  "order 1 false",
  "refused true insufficient_stock",
  "",
].join("\n");

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { stage } from "./support/browser.ts";
import { components } from "./support/design.ts";
import { assertAccessible, overflow, phone, visit } from "./support/pages.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const vite = "web/node_modules/vite/bin/vite.js";

/** Vite's server for development, on a free port. */
async function startVite() {
  const words = ["--config", "web/vite.config.ts", "--host", "127.0.0.1", "--port", "0"];
  const server = spawn(process.execPath, [vite, ...words], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  let address: string | undefined;
  for await (const part of server.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    said += stripVTControlCharacters(part as string);
    address = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
    if (address) break;
  }
  assert.ok(address, said);
  server.stdout.resume();
  return {
    address,
    async close(): Promise<void> {
      const ended = once(server, "exit");
      server.kill();
      await ended;
    },
  };
}

const [browser, server] = await stage(startVite);

test("in development, /dashboard/design shows each component of web/parts once, and all of them are accessible", async (t) => {
  const { page } = await visit(t, browser, `${server.address}/dashboard/design`);
  const headings = page.getByRole("heading", { level: 3 });
  await page.getByRole("heading", { name: "SaveBar" }).waitFor();
  const names = components().map(({ name }) => name);
  const shown = (await headings.allTextContents()).filter((name) => names.includes(name));
  assert.deepEqual(shown.toSorted(), names);
  await assertAccessible(page);
  await page.setViewportSize(phone);
  assert.equal(await overflow(page), 0);
});

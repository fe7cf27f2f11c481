import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { assertAccessibleOnPhone, visit } from "./support/pages.ts";
import { startService } from "./support/service.ts";

/* What the tests of pages rely on. */

const [browser, service] = await stage(startService);

const open = (t: TestContext, path: string, options = {}) => visit(t, browser, service.address + path, options);

for (const scheme of ["light", "dark"]) {
  test(`a contrast that is too low on a phone in ${scheme} colours alone is found`, async (t) => {
    const { page } = await open(t, "/nothing");
    const low = `@media (max-width: 500px) and (prefers-color-scheme: ${scheme}) { h1 { color: #888; background: #777 } }`;
    await page.addStyleTag({ content: low });
    await assert.rejects(assertAccessibleOnPhone(page), new RegExp(`on a phone in ${scheme} colours[^]*color-contrast: <h1`));
  });
}

test("a test that visits a page finds nothing that the test before it left there", async (t) => {
  const state = `(async () => ({
    cookie: document.cookie,
    here: sessionStorage.length,
    kept: localStorage.getItem("left"),
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    isDark: matchMedia("(prefers-color-scheme: dark)").matches,
    width: innerWidth,
    hasPasskeys: await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable(),
  }))()`;
  const seen: object[] = [];
  const look = async (page: Page): Promise<void> => void seen.push(await page.evaluate<object>(state));
  await t.test("before", async (inner) => look((await open(inner, "/nothing")).page));
  await t.test("leaves something", async (inner) => {
    const { page, devtools } = await open(inner, "/nothing", {
      timezoneId: "Asia/Tokyo",
      colorScheme: "dark",
      viewport: { width: 500, height: 500 },
    });
    await page.evaluate("addEventListener('pagehide', () => sessionStorage.setItem('late', '1'))");
    await page.evaluate("document.cookie = 'left=1'; sessionStorage.setItem('left', '1'); localStorage.setItem('left', '1')");
    await devtools.send("WebAuthn.enable");
    await devtools.send("WebAuthn.addVirtualAuthenticator", {
      options: { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true },
    });
    await look(page);
  });
  await t.test("after", async (inner) => look((await open(inner, "/nothing")).page));
  const [before, left, after] = seen;
  assert.deepEqual(after, before);
  assert.deepEqual(left, { cookie: "left=1", here: 1, kept: "1", zone: "Asia/Tokyo", isDark: true, width: 500, hasPasskeys: true });
});

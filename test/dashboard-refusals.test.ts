import assert from "node:assert/strict";
import { test } from "node:test";
import { errorTable } from "../src/platform/error-table.ts";
import { stage } from "./support/browser.ts";
import { openDashboardShop } from "./support/dashboard-shop.ts";
import { findings, visit } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);
/** Faults of the page or the service, whose request id people can give to the operator. */
const faults = new Set([
  "method_not_allowed",
  "not_acceptable",
  "idempotency_key_in_use",
  "idempotency_key_reused",
  "operation_sunset",
  "events_expired",
  "headers_too_large",
  "key_banned",
  "internal",
  "unavailable",
]);

test("each refusal is shown once, and only faults show their request id", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/categories?new=true");
  const dialog = page.getByRole("dialog", { name: "New category" });
  const alert = dialog.getByRole("alert");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Dogs");
  for (const [code, { status }] of Object.entries(errorTable)) {
    if (["unauthorized", "session_changed", "confirmation_required"].includes(code)) continue; // each leads away from this form
    const requestId = `request-${code}`;
    const body = JSON.stringify({ code, status, message: `The service says ${code}.` });
    const headers = { "x-request-id": requestId, ...(status === 429 && { "retry-after": "7" }) };
    await page.route("**/dashboard/v1/categories", (route) => route.fulfill({ status, headers, contentType: "application/json", body }), {
      times: 1,
    });
    const answered = page.waitForResponse((response) => response.headers()["x-request-id"] === requestId);
    await dialog.getByRole("button", { name: "Create category" }).click();
    await answered;
    await dialog.locator("button[type=submit]:not([data-loading])").waitFor();
    const shown = await alert.innerText();
    assert.equal(shown.includes(requestId), faults.has(code), `${code}: ${shown}`);
    assert.ok(!shown.includes("That did not work"), shown);
    assert.equal(/Try again in 7 seconds/.test(shown), status === 429, shown);
    const sentences = shown.split(/[.\n]/).map((one) => one.trim().toLowerCase());
    const said = sentences.filter((one) => one !== "" && one !== requestId);
    assert.deepEqual(said, [...new Set(said)], `${code} says something twice`);
    if (code === "internal" || code === "category_exists") assert.deepEqual(await findings(page), []);
  }
});

test("a wrong password is reported without a request id", async (t) => {
  const { page } = await visit(t, browser, `${service.address}/sign-in`);
  await page.getByLabel("Email").fill("nobody@shop.example");
  await page.locator("input[type=password]").fill("not the password");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  const alert = page.getByRole("alert");
  await alert.waitFor();
  assert.equal((await alert.innerText()).trim(), "The email or the password is wrong.");
});

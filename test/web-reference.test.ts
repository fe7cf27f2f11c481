import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { stage } from "./support/browser.ts";
import { assertAccessible, isUncovered, phone, visit } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

const open = (t: TestContext, path: string, options = {}) => visit(t, browser, `${service.address}/reference${path}`, options);

test("each part, field and error code has a link, and its id occurs once on the page with everything", async (t) => {
  const { page } = await open(t, "/all#listPets");
  const ids = await page.evaluate<string[]>("[...document.querySelectorAll('[id]')].map(({ id }) => id)");
  assert.deepEqual(
    ids.filter((id, place) => ids.indexOf(id) !== place),
    [],
  );
  const links = await page.evaluate<{ id: string; name: string }[]>(
    `[...document.querySelectorAll("article a[href^='#']")].map((link) => ({ id: link.hash.slice(1), name: link.ariaLabel }))`,
  );
  const linked = new Set(links.map(({ id }) => id));
  for (const id of ["createPet-body-name", "createPet-201-id", "createPet-201-header-Location", "createPet-error-invalid_request"]) {
    assert.ok(linked.has(id), id);
  }
  for (const part of ["parameters", "body", "samples", "responses", "errors"]) assert.ok(linked.has(`createPet-${part}`), part);
  assert.deepEqual([...linked.difference(new Set(ids))], []);
  assert.ok(links.every(({ name }) => /^Link to \S/.test(name)));
});

test("the keyboard reaches the link of a field, which puts the field into the address, and marks it", async (t) => {
  const { page } = await open(t, "/createPet");
  await page.getByRole("link", { name: "Link to Request body" }).focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/reference/createPet#createPet-body-name");
  await page.locator("li#createPet-body-name[data-marked]:focus").waitFor();
  assert.equal(await isUncovered(page, "#createPet-body-name code"), true);
  await assertAccessible(page);
});

for (const { name, address, shown } of [
  { name: "a heading", address: "/createPet#createPet-errors", shown: "h2#createPet-errors" },
  { name: "a folded header", address: "/createPet#createPet-201-header-Location", shown: "#createPet-201-header-Location code" },
  { name: "a field on the page with everything", address: "/all#createOrder-body-quantity", shown: "#createOrder-body-quantity code" },
  {
    name: "a folded header on the page with everything",
    address: "/all#createOrder-201-header-ETag",
    shown: "#createOrder-201-header-ETag code",
  },
]) {
  for (const viewport of [{ width: 1280, height: 900 }, phone]) {
    test(`an address that names ${name} shows it, ${viewport.width} px wide`, async (t) => {
      const { page } = await open(t, address, { viewport });
      await page.locator("[data-marked]").waitFor();
      assert.equal(await isUncovered(page, shown), true);
    });
  }
}

import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { findings, overflow, phone, visit } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

const open = (t: TestContext, path: string, options = {}) => visit(t, browser, service.address + path, options);

type Scene = { name: string; path: string; open?: (page: Page) => Promise<void> };

const scenes: Scene[] = [
  { name: "the start", path: "/" },
  { name: "the reference", path: "/reference" },
  { name: "the whole reference", path: "/reference/all" },
  { name: "an operation with a body", path: "/reference/updatePet" },
  { name: "a deprecated operation", path: "/reference/getPet" },
  { name: "an experimental operation", path: "/reference/adjustInventoryItem" },
  { name: "an operation without a panel", path: "/reference/listOrders" },
  { name: "an operation that is not there", path: "/reference/nothing" },
  { name: "an address that is not there", path: "/nothing" },
  {
    name: "an answer",
    path: "/reference/listPets",
    open: async (page) => {
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("401 Unauthorized").waitFor();
    },
  },
  {
    name: "the palette",
    path: "/reference",
    open: async (page) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").waitFor();
    },
  },
];

for (const { name, path, open: prepare } of scenes) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`${name}, ${colorScheme}: axe finds nothing, and it fits a phone`, async (t) => {
      const { page } = await open(t, path, { colorScheme });
      await prepare?.(page);
      assert.deepEqual(await findings(page), []);
      await page.setViewportSize(phone);
      assert.equal(await overflow(page), 0);
      // the operations one by one are looked at above; all together take axe a quarter of a minute
      if (path !== "/reference/all") assert.deepEqual(await findings(page), []);
    });
  }
}

test("the contents open on a phone, and close when an operation is chosen", async (t) => {
  const { page } = await open(t, "/reference", { viewport: phone });
  await page.getByRole("button", { name: "Contents" }).click();
  assert.deepEqual(await findings(page), []);
  await page
    .getByRole("dialog")
    .getByRole("link", { name: /^Place an order/ })
    .click();
  await page.getByRole("heading", { level: 1, name: "Place an order" }).waitFor();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
});

describe("the navigation", () => {
  test("has Store and Pets as groups over the tags that carry the operations", async (t) => {
    const { page } = await open(t, "/reference");
    const navigation = page.getByRole("navigation", { name: "API reference" });
    const store = navigation.getByRole("list", { name: "Store" });
    assert.equal(await store.getByRole("list", { name: "Orders" }).getByRole("link").count(), 6);
    const pets = navigation.getByRole("list", { name: "Pets" });
    assert.equal(await pets.getByRole("list", { name: "Animals" }).getByRole("link", { name: "Create a pet" }).count(), 1);
    assert.equal(await pets.getByRole("list").count(), 2);
  });

  test("reaches every operation of the description at its own address", async (t) => {
    const { page } = await open(t, "/reference");
    const { paths } = (await (await fetch(`${service.address}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const ids = Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
    const links = await page.getByRole("navigation", { name: "API reference" }).getByRole("link").all();
    const addresses = await Promise.all(links.map((link) => link.getAttribute("href")));
    assert.deepEqual(
      ids.filter((id) => !addresses.includes(`/reference/${id}`)),
      [],
    );
  });

  test("its filter finds by path, by id and by word", async (t) => {
    const { page } = await open(t, "/reference");
    const navigation = page.getByRole("navigation", { name: "API reference" });
    for (const [filter, found] of [
      ["post /store/orders", "Place an order"],
      ["createPetsBatch", "Create many pets"],
      ["adjust", "Adjust"],
    ] as const) {
      await navigation.getByRole("searchbox").fill(filter);
      await navigation.getByRole("link", { name: found }).first().waitFor();
    }
    await navigation.getByRole("searchbox").fill("zebra crossing");
    await navigation.getByText("No operation matches.").waitFor();
  });
});

test("the palette goes to an operation by keyboard alone", async (t) => {
  const { page } = await open(t, "/");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("textbox").fill("batch");
  await page.getByRole("dialog").getByText("Create many pets").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/reference/createPetsBatch");
});

test("the first key press of Tab leads past the navigation, and shows where it is", async (t) => {
  const { page } = await open(t, "/reference/listPets");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate("document.activeElement.innerText"), "Skip to content");
  assert.equal(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "solid");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate("document.activeElement.id"), "content");
});

test("a deprecated operation tells its sunset and leads to its successor", async (t) => {
  const { page } = await open(t, "/reference/getPet", { timezoneId: "Asia/Tokyo" });
  const notice = page.getByRole("complementary", { name: "This operation is deprecated" });
  assert.match(await notice.innerText(), /31 December 2027 at 00:00 UTC/, "the zone is named");
  assert.equal(await notice.locator("time").getAttribute("datetime"), "2027-12-31T00:00:00.000Z");
  await notice.getByRole("link", { name: "List pets" }).click();
  await page.waitForURL("**/reference/listPets");
});

test("a stability badge stands beside what it promises", async (t) => {
  const { page } = await open(t, "/reference/createPetsBatch");
  await page.getByRole("article").getByText("Beta", { exact: true }).waitFor();
  await page.getByRole("article").getByText("ready to use; details may still change, with notice.").waitFor();
  await page.goto(`${service.address}/reference/adjustInventoryItem`);
  await page.getByRole("article").getByText("Experimental", { exact: true }).waitFor();
  await page.getByRole("article").getByText("may change or go away without notice.").waitFor();
});

test("code samples are in tabs, and the chosen language stays from one operation to the next", async (t) => {
  const { page } = await open(t, "/reference/createOrder");
  await page.getByRole("tab", { name: "Python" }).click();
  assert.match(await page.getByRole("tabpanel").innerText(), /requests\.request\(/);
  await page.getByRole("navigation", { name: "API reference" }).getByRole("link", { name: "Create a category" }).click();
  await page.getByRole("heading", { level: 1, name: "Create a category" }).waitFor();
  assert.match(await page.getByRole("tabpanel").innerText(), /requests\.request\(/);
});

test("an operation shows its parameters, schemas, response headers and errors", async (t) => {
  const { page } = await open(t, "/reference/createOrder");
  const article = page.getByRole("article");
  await article.getByText("Idempotency-Key", { exact: true }).first().waitFor();
  await article.getByRole("cell", { name: "insufficient_stock" }).waitFor();
  await article
    .getByText(/^Response headers/)
    .first()
    .click();
  await article.getByText("X-RateLimit-Remaining", { exact: true }).first().waitFor();
  await article.getByText("1 to 2,147,483,647").first().waitFor();
});

test("dark mode is chosen by hand, and stays after a reload", async (t) => {
  const { page } = await open(t, "/reference", { colorScheme: "light" });
  await page.getByRole("button", { name: "Switch to dark mode" }).click();
  await page.reload();
  await page.getByRole("button", { name: "Switch to light mode" }).waitFor();
  assert.equal(await page.locator("html").getAttribute("data-mantine-color-scheme"), "dark");
});

test("on paper there is the operation, without navigation and panel", async (t) => {
  const { page } = await open(t, "/reference/listPets");
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.getByRole("navigation", { name: "API reference" }).isVisible(), false);
  assert.equal(await page.getByRole("button", { name: "Send" }).isVisible(), false);
  assert.equal(await page.getByRole("heading", { level: 1, name: "List pets" }).isVisible(), true);
});

test("without the description the reference says so, and works again when there is one", async (t) => {
  const { page } = await open(t, "/");
  await page.route("**/openapi.json", (route) => route.abort());
  await page.goto(`${service.address}/reference`);
  await page.getByText("The description of the API could not be loaded.").waitFor();
  await page.unroute("**/openapi.json");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { level: 1, name: "Pet Store API" }).waitFor();
});

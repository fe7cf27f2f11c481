import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { someOf } from "./support/fault-runs.ts";
import {
  assertAccessible,
  assertAccessibleOnPhone,
  findings,
  goWithin,
  isUncovered,
  overflow,
  phone,
  smallestPhone,
  visit,
} from "./support/pages.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

const open = (t: TestContext, path: string, options = {}) => visit(t, browser, service.address + path, options);

type Scene = { name: string; path: string; open?: (page: Page) => Promise<void> };

const scenes: Scene[] = [
  { name: "the start", path: "/" },
  { name: "the reference", path: "/reference" },
  { name: "a deprecated operation", path: "/reference/getPet" },
  { name: "a code in the guide of errors", path: "/reference/guides/errors#insufficient_stock" },
  { name: "a guide whose table is wider than a phone", path: "/reference/guides/idempotency" },
  { name: "an address that is not there", path: "/nothing" },
  {
    name: "an operation with a body, and its answer",
    path: "/reference/createPet",
    open: async (page) => {
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("401 Unauthorized").waitFor();
    },
  },
  {
    name: "the palette",
    path: "/",
    open: async (page) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").waitFor();
    },
  },
];

for (const { name, path, open: prepare } of scenes) {
  test(`${name}: axe finds nothing, and it fits a phone`, async (t) => {
    const { page } = await open(t, path);
    await prepare?.(page);
    await assertAccessibleOnPhone(page);
  });
}

test("an experimental operation, one without a panel and one that is not there: axe finds nothing, and they fit a phone", async (t) => {
  const { page } = await open(t, "/reference/adjustInventoryItem", { viewport: phone });
  await assertAccessibleOnPhone(page, "an experimental operation");
  for (const operation of ["listOrders", "nothing"]) {
    await goWithin(page, `/reference/${operation}`);
    await assertAccessibleOnPhone(page, operation);
  }
});

/** Rules that axe can only check on a page as a whole. */
const wholePageRules = [
  "document-title",
  "duplicate-id-aria",
  "heading-order",
  "landmark-one-main",
  "landmark-unique",
  "page-has-heading-one",
];

test("all operations on one page: axe finds nothing", async (t) => {
  const { page } = await open(t, "/reference/all#listPets");
  assert.deepEqual(await findings(page, { rules: wholePageRules }), []);
  // to look at all of them would take most of a minute
  const operations = await page.locator("section:has(> article)").evaluateAll((sections) => sections.map(({ id }) => `#${id}`));
  const some = someOf(operations, 24);
  assert.ok(some.length > 1);
  await page.evaluate(`document.querySelectorAll("section:has(> article):not(${some.join()})").forEach((one) => one.remove())`);
  await assertAccessible(page, some.join());
});

test("the contents open on a phone, and close when an operation is chosen", async (t) => {
  const { page } = await open(t, "/reference", { viewport: phone });
  await page.getByRole("button", { name: "Contents" }).click();
  assert.deepEqual(await findings(page), []);
  const contents = page.getByRole("dialog");
  await contents.locator("summary", { hasText: "Orders" }).click();
  await contents.getByRole("link", { name: /Place an order$/ }).click();
  await page.getByRole("heading", { level: 1, name: "Place an order" }).waitFor();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
});

describe("the navigation", () => {
  test("the navigation groups the tags under Store and Pets", async (t) => {
    const { page } = await open(t, "/reference");
    const navigation = page.getByRole("navigation", { name: "API reference" });
    const store = navigation.getByRole("list", { name: "Store" });
    for (const resource of ["Orders", "Animals", "Categories"]) await navigation.locator("summary", { hasText: resource }).click();
    assert.equal(await store.getByRole("list", { name: "Orders" }).getByRole("link").count(), 12);
    const pets = navigation.getByRole("list", { name: "Pets" });
    assert.equal(await pets.getByRole("list", { name: "Animals" }).getByRole("link", { name: "Create a pet" }).count(), 1);
    assert.equal(await pets.getByRole("list").count(), 2);
  });

  test("every operation of the description is reachable at its own address", async (t) => {
    const { page } = await open(t, "/reference");
    const { paths } = (await (await fetch(`${service.address}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const ids = Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
    const links = await page.getByRole("navigation", { name: "API reference" }).locator("a").all();
    const addresses = await Promise.all(links.map((link) => link.getAttribute("href")));
    assert.deepEqual(
      ids.filter((id) => !addresses.includes(`/reference/${id}`)),
      [],
    );
  });

  test("the filter finds operations by path, operationId and word", async (t) => {
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

test("a deprecated operation shows its sunset and links to its successor", async (t) => {
  const { page } = await open(t, "/reference/getPet", { timezoneId: "Asia/Tokyo" });
  const notice = page.getByRole("complementary", { name: "This operation is deprecated" });
  assert.match(await notice.innerText(), /31 December 2027 at 00:00 UTC/, "the zone is named");
  assert.equal(await notice.locator("time").getAttribute("datetime"), "2027-12-31T00:00:00.000Z");
  await notice.getByRole("link", { name: "List pets" }).click();
  await page.waitForURL("**/reference/listPets");
});

test("a stability badge explains what it promises", async (t) => {
  const { page } = await open(t, "/reference/createPetsBatch");
  await page.getByRole("article").getByText("Beta", { exact: true }).waitFor();
  await page.getByRole("article").getByText("details may still change, with notice.").waitFor();
  await page.goto(`${service.address}/reference/adjustInventoryItem`);
  await page.getByRole("article").getByText("Experimental", { exact: true }).waitFor();
  await page.getByRole("article").getByText("may change or go away without notice.").waitFor();
});

test("code samples are in tabs, and the chosen language persists between operations", async (t) => {
  const { page } = await open(t, "/reference/createOrder");
  await page.getByRole("tab", { name: "Python" }).click();
  assert.match(await page.getByRole("tabpanel").innerText(), /requests\.request\(/);
  const navigation = page.getByRole("navigation", { name: "API reference" });
  await navigation.locator("summary", { hasText: "Categories" }).click();
  await navigation.getByRole("link", { name: "Create a category" }).click();
  await page.getByRole("heading", { level: 1, name: "Create a category" }).waitFor();
  assert.match(await page.getByRole("tabpanel").innerText(), /requests\.request\(/);
});

test("a sample has its JSON over several lines, and long lines scroll in their own box", async (t) => {
  const { page } = await open(t, "/reference/createPet", { viewport: smallestPhone });
  const sample = page.getByRole("group", { name: "curl" }).first();
  assert.match(await sample.innerText(), /-d '\{\n {4}"name": "Bella",\n {4}"categoryId": 1,\n/);
  const box = "document.querySelector('pre[aria-label=curl]')";
  assert.ok(await page.evaluate<boolean>(`${box}.scrollWidth > ${box}.clientWidth`));
  assert.equal(await overflow(page), 0);
});

test("on a phone the samples come after what is sent and before what comes back", async (t) => {
  const { page } = await open(t, "/reference/createPet", { viewport: phone });
  const parts = page.getByRole("article").getByRole("heading", { level: 2 });
  await page.getByRole("heading", { name: "Try it" }).waitFor();
  assert.deepEqual(await parts.allInnerTexts(), ["Parameters", "Request body", "Code samples", "Try it", "Responses", "Errors"]);
  const tops = await Promise.all((await parts.all()).map(async (part) => (await part.boundingBox())?.y ?? 0));
  assert.deepEqual(
    tops,
    tops.toSorted((a, b) => a - b),
  );
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

test("an error has what its code means in general, in each operation and in the guide, and an example of its message", async (t) => {
  const { page } = await open(t, "/reference/createOrder");
  const meaning = "Fewer units of the pet are free than the request takes.";
  const row = page.getByRole("row").filter({ has: page.getByRole("cell", { name: "insufficient_stock" }) });
  assert.match(await row.innerText(), new RegExp(`${meaning}\\s+For example: Pet \\d+ has \\d+ free units`));
  await page.goto(`${service.address}/reference/guides/errors`);
  await row.getByText(meaning, { exact: true }).waitFor();
});

for (const viewport of [{ width: 1280, height: 900 }, phone]) {
  test(`the palette leads to the row of an error code, which is marked and in view, ${viewport.width} px wide`, async (t) => {
    const { page } = await open(t, "/reference/guides/errors", { viewport });
    for (const code of ["insufficient_stock", "rate_limit_exceeded"]) {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("textbox").fill(code);
      await page.getByRole("dialog").getByRole("button", { name: code }).click();
      await page.waitForURL(`**/reference/guides/errors#${code}`);
      await page.locator(`tr#${code}[data-marked]:focus`).waitFor();
      assert.equal(await page.locator("[data-marked]").count(), 1);
      assert.equal(await isUncovered(page, `#${code} code`), true);
    }
  });
}

test("a guide's table that is wider than a phone scrolls in a box that the keyboard reaches and that its columns name", async (t) => {
  const { page } = await open(t, "/reference/guides/idempotency", { viewport: smallestPhone });
  const box = page.getByRole("region", { name: "code what happened" });
  await box.focus();
  await page.keyboard.press("ArrowRight");
  await box.getByRole("table").waitFor();
  const region = "document.querySelector('section:has(> table)')";
  await page.evaluate(`new Promise((moved) => ${region}.scrollLeft > 0 ? moved() : ${region}.addEventListener("scroll", moved))`);
  assert.equal(await overflow(page), 0);
});

test("dark mode is chosen by hand, and stays after a reload", async (t) => {
  const { page } = await open(t, "/reference", { colorScheme: "light" });
  await page.getByRole("button", { name: "Switch to dark mode" }).click();
  await page.reload();
  await page.getByRole("button", { name: "Switch to light mode" }).waitFor();
  await page.getByRole("button", { name: "Switch to light mode" }).click();
  await page.getByRole("button", { name: "Use the colours of this device" }).click();
  await page.getByRole("button", { name: "Switch to dark mode" }).click();
  assert.equal(await page.locator("html").getAttribute("data-mantine-color-scheme"), "dark");
});

test("a printed page holds the operation, without navigation and panel", async (t) => {
  const { page } = await open(t, "/reference/listPets");
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.getByRole("navigation", { name: "API reference" }).isVisible(), false);
  assert.equal(await page.getByRole("button", { name: "Send" }).isVisible(), false);
  assert.equal(await page.getByRole("heading", { level: 1, name: "List pets" }).isVisible(), true);
});

test("without the description the reference says so, and recovers when it is back", async (t) => {
  const { page } = await open(t, "/");
  await page.route("**/openapi.json", (route) => route.abort());
  await page.goto(`${service.address}/reference`);
  await page.getByText("The description of the API could not be loaded.").waitFor();
  await page.unroute("**/openapi.json");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { level: 1, name: "Pet Store API" }).waitFor();
});

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { stage } from "./support/browser.ts";
import { operationsIn, type Document } from "./support/description.ts";
import { assertAccessible, findings, isUncovered, overflow, phone, visit } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);
const operationCount = operationsIn((await (await fetch(`${service.address}/openapi.json`)).json()) as Document).length;

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

const desktop = { width: 1280, height: 900 };

for (const { name, address, shown, viewports } of [
  { name: "a heading", address: "/createPet#createPet-errors", shown: "h2#createPet-errors", viewports: [desktop, phone] },
  {
    name: "a folded header",
    address: "/createPet#createPet-201-header-Location",
    shown: "#createPet-201-header-Location code",
    viewports: [desktop, phone],
  },
  {
    name: "a field on the page with everything",
    address: "/all#createOrder-body-quantity",
    shown: "#createOrder-body-quantity code",
    viewports: [phone],
  },
  {
    name: "a folded header on the page with everything",
    address: "/all#createOrder-201-header-ETag",
    shown: "#createOrder-201-header-ETag code",
    viewports: [desktop],
  },
]) {
  for (const viewport of viewports) {
    test(`an address that names ${name} shows it, ${viewport.width} px wide`, async (t) => {
      const { page } = await open(t, address, { viewport });
      await page.locator("[data-marked]").waitFor();
      assert.equal(await isUncovered(page, shown), true);
    });
  }
}

/** Counts the operations, and all elements, that each stretch of work without a pause has put on the page; and how far the page moved. */
const observed = `
  globalThis.stretches = [];
  globalThis.shift = 0;
  const elements = (node) => (node.nodeType === Node.ELEMENT_NODE ? [node, ...node.querySelectorAll("*")] : []);
  new MutationObserver((records) => {
    const added = records.flatMap(({ addedNodes }) => [...addedNodes]).filter((node) => node.isConnected).flatMap(elements);
    const sections = added.filter((element) => element.matches("section[id]:has(> article)"));
    if (sections.length > 0) stretches.push({ sections: new Set(sections).size, elements: new Set(added).size });
  }).observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value } of list.getEntries()) if (!hadRecentInput) shift += value;
  }).observe({ type: "layout-shift", buffered: true });
`;
type Stretch = { sections: number; elements: number };

const sections = "section:has(> article)";
/** A promise, which leaves the browser its idle time. */
const allRendered = `new Promise((rendered) => {
  const check = () => document.querySelectorAll("${sections}").length === ${operationCount} && rendered();
  new MutationObserver(check).observe(document, { childList: true, subtree: true });
  check();
})`;
/** Whether the browser's search finds a text of the last operation, which is far from the window. */
const foundInLast = `(() => {
  const last = [...document.querySelectorAll("${sections}")].at(-1);
  const wanted = last.querySelector("td p");
  let isFound = false;
  while (!isFound && find(wanted.textContent)) isFound = last.contains(getSelection().anchorNode);
  return isFound;
})()`;

for (const viewport of [desktop, phone]) {
  test(`the page with everything renders one operation at a time, and nothing moves, ${viewport.width} px wide`, async (t) => {
    const { page } = await open(t, "", { viewport });
    await page.addInitScript(observed);
    await page.goto(`${service.address}/reference/all`);
    await page.evaluate(allRendered);
    const stretches = await page.evaluate<Stretch[]>("stretches");
    assert.equal(
      stretches.reduce((sum, stretch) => sum + stretch.sections, 0),
      operationCount,
    );
    assert.equal(Math.max(...stretches.map((stretch) => stretch.sections)), 1);
    const all = await page.evaluate<number>("document.querySelectorAll('*').length");
    const most = Math.max(...stretches.map((stretch) => stretch.elements));
    t.diagnostic(`at most ${most} of ${all} elements at once`);
    assert.ok(most < all / 10, `${most} of ${all} elements at once`);
    assert.equal(await page.evaluate(foundInLast), true);
    for (const part of [0.25, 0.5, 1]) {
      await page.evaluate(`new Promise((drawn) => {
        scrollTo(0, document.documentElement.scrollHeight * ${part});
        requestAnimationFrame(() => requestAnimationFrame(drawn));
      })`);
    }
    assert.ok((await page.evaluate<number>("shift")) <= 0.02);
    assert.equal(await overflow(page), 0);
  });
}

test("printing the page with everything prints all operations, however few are rendered", async (t) => {
  const { page } = await open(t, "");
  await page.addInitScript("globalThis.requestIdleCallback = () => 0");
  await page.goto(`${service.address}/reference/all`);
  await page.locator(sections).first().waitFor();
  assert.equal(await page.locator(sections).count(), 1);
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  assert.equal(await page.locator(sections).count(), operationCount);
});

test("code has its colours from the first moment, and long codes of errors leave room for what they mean", async (t) => {
  const { page } = await open(t, "");
  await page.addInitScript(`
    new MutationObserver((_records, observer) => {
      const code = document.querySelector("pre[aria-label=curl] code");
      if (!code) return;
      globalThis.atFirst = code.querySelectorAll("[class^=hljs]").length;
      observer.disconnect();
    }).observe(document, { childList: true, subtree: true });
  `);
  await page.goto(`${service.address}/reference/createPet`);
  await page.getByRole("group", { name: "curl" }).first().waitFor();
  assert.ok((await page.evaluate<number>("atFirst")) > 3);
  const meaning = page.locator("#createPet-error-idempotency_key_in_use td").last();
  assert.ok(((await meaning.boundingBox())?.width ?? 0) > 380);
});

test("the navigation folds all resources but that of the open operation, which it shows, and says once how stable a resource is", async (t) => {
  const { page } = await open(t, "/resendWebhookDelivery", {
    viewport: { width: 1200, height: 500 },
  });
  const navigation = page.getByRole("navigation", { name: "API reference" });
  await navigation.getByRole("link", { name: "Resend" }).waitFor();
  assert.deepEqual(await navigation.locator("details[open] h3").allInnerTexts(), ["Webhooks"]);
  const current = navigation.locator("[aria-current=page]");
  await page.waitForFunction("document.querySelector('nav [aria-current=page]').getBoundingClientRect().bottom <= innerHeight");
  assert.equal(await current.getByText("Beta").count(), 0);
  assert.equal(await navigation.locator("summary", { hasText: "Webhooks" }).getByText("Beta").count(), 1);
  await navigation.locator("summary", { hasText: "Animals" }).click();
  assert.equal(await navigation.getByRole("link", { name: "Create many pets" }).getByText("Beta").count(), 1, "in a mixed resource");
  assert.match(await navigation.getByRole("link", { name: "Get a pet" }).first().innerText(), /GET \/pets\?id=\{petId\}/);
});

test("an operation has its answer beside the request, and samples in five languages", async (t) => {
  const { page } = await open(t, "/createPet");
  assert.match(await page.getByRole("group", { name: "Example response: 201" }).innerText(), /"name": "Bella"/);
  for (const [label, text] of [
    ["Go", "http.NewRequest("],
    ["PHP", "stream_context_create("],
  ] as const) {
    await page.getByRole("tab", { name: label }).click();
    assert.ok((await page.getByRole("tabpanel").innerText()).includes(text));
  }
});

test("the navigation has methods as letters in their colours, and names them whole to screen readers", async (t) => {
  const { page } = await open(t, "/deletePet");
  const navigation = page.getByRole("navigation", { name: "API reference" });
  const link = navigation.locator("[aria-current=page]");
  assert.match(await link.ariaSnapshot(), /link "DELETE Delete a pet"/);
  assert.equal(await link.getByText("DEL", { exact: true }).isVisible(), true);
  const colours = await page.evaluate<Record<string, string>>(`(() => {
    const letters = [...document.querySelectorAll("nav ul[aria-label=Animals] a > span:first-child")];
    return Object.fromEntries(letters.map((each) => [each.firstChild.textContent, getComputedStyle(each).color]));
  })()`);
  assert.deepEqual(Object.keys(colours).toSorted(), ["DEL", "GET", "PATCH", "POST", "PUT"]);
  assert.equal(new Set(Object.values(colours)).size, 5);
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`code is on a dark panel in ${colorScheme} colours, in operations and guides, and axe finds nothing`, async (t) => {
    const { page } = await open(t, "/createPet", { colorScheme });
    for (const path of ["createPet", "guides/errors"]) {
      await page.goto(`${service.address}/reference/${path}`);
      await page.locator("main pre code").first().waitFor();
      const grounds = await page.evaluate<number[][]>(`[...document.querySelectorAll("main pre")].map((pre) => {
        const element = pre.classList.length > 0 ? pre : pre.firstChild;
        return getComputedStyle(element).backgroundColor.match(/\\d+/g).map(Number);
      })`);
      assert.ok(grounds.length > 0);
      for (const ground of grounds) assert.ok(Math.max(...ground.slice(0, 3)) < 40 && ground[3] !== 0, String(ground));
      assert.deepEqual(await findings(page, { rules: ["color-contrast"] }), []);
    }
  });
}

test("in a wide window the answer is beside the form that was sent, in view, and on a phone below it", async (t) => {
  const { page } = await open(t, "/createPet", { viewport: desktop });
  await page.getByRole("link", { name: "Try it" }).click();
  const form = page.locator("#try-it form");
  const boxes = async () =>
    [(await form.boundingBox())!, (await page.getByRole("heading", { name: "Response", exact: true }).boundingBox())!] as const;
  await form.getByRole("button", { name: "Send" }).click();
  await page.getByText("401 Unauthorized").waitFor();
  const [wide, beside] = await boxes();
  assert.ok(beside.x >= wide.x + wide.width && beside.y >= wide.y && beside.y < wide.y + wide.height, JSON.stringify([wide, beside]));
  for (const shown of ["#try-it [aria-live] h3", "#try-it [aria-live] pre"]) assert.equal(await isUncovered(page, shown), true, shown);
  await page.setViewportSize(phone);
  const [narrow, below] = await boxes();
  assert.ok(below.y >= narrow.y + narrow.height, JSON.stringify([narrow, below]));
});

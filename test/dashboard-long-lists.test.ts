import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { stage } from "./support/browser.ts";
import { openDashboardShop } from "./support/dashboard-shop.ts";
import type { Pet } from "./support/models.ts";
import { phone } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { until } from "./support/until.ts";

const [browser, service] = await stage(startService);

const animals = (page: Page) => page.getByRole("table", { name: "Animals" });
const rowOf = (page: Page, name: string) => animals(page).getByRole("row").filter({ hasText: name });
const dog = (index: number) => `Dog ${String(index).padStart(7, "0")}`;

/** The number of the row that the upper edge of the window goes through, and where it stands. */
const edgeOf = (page: Page) =>
  page.evaluate<{ index: number; top: number }>(`(() => {
    const row = [...document.querySelectorAll("tr[data-index]")].find((row) => row.getBoundingClientRect().bottom > 0);
    return { index: Number(row.dataset.index), top: row.getBoundingClientRect().top };
  })()`);

/** Scrolls at once, and waits until the rows there are drawn. */
const scroll = (page: Page, how: string) =>
  page.evaluate(`new Promise((done) => { ${how}; requestAnimationFrame(() => requestAnimationFrame(done)); })`);
/** Scrolls to a part of the whole height, as a person who drags the scroll bar does. */
const drag = (page: Page, part: number) =>
  scroll(page, `scrollTo({ top: document.documentElement.scrollHeight * ${part}, behavior: "instant" })`);
const scrollUp = (page: Page, px: number) => scroll(page, `scrollBy({ top: ${-px}, behavior: "instant" })`);

async function toTheEnd(page: Page, last: number, step: number): Promise<void> {
  for (let next = step; next < last; next += step) {
    await drag(page, 1);
    await rowOf(page, dog(next)).waitFor({ state: "attached" });
  }
  await drag(page, 1);
  await rowOf(page, dog(last - 1)).waitFor();
}

/**
 * A shop of so many animals of which a page holds `pageSize`: the service's answers, in whose place a browser can be given a million. They
 * are made in the page, since to send a hundred megabytes there would take longer than all else.
 */
async function openLong(page: Page, count: number, pageSize: number): Promise<void> {
  await page.addInitScript(`{
    const { fetch } = globalThis;
    globalThis.fetch = async (asked, options) => {
      const url = new URL(asked.url ?? asked, location.href);
      if (url.pathname !== "/dashboard/v1/pets") return fetch(asked, options);
      const from = Number(url.searchParams.get("cursor") ?? 0);
      const row = (_, at) => ({ id: from + at + 1, name: "Dog " + String(from + at).padStart(7, "0"), categoryId: 1, status: "available" });
      const rows = Array.from({ length: Math.min(${pageSize}, ${count} - from) }, row);
      const next = from + ${pageSize};
      return Response.json(rows, { headers: next < ${count} ? { link: "<?cursor=" + next + '>; rel="next"' } : {} });
    };
  }`);
  await page.reload();
  await rowOf(page, dog(0)).waitFor();
}

test("a list of a million animals scrolls to its last row and back", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const page = await shop.open("/animals");
  await openLong(page, 1_000_000, 250_000);
  await toTheEnd(page, 1_000_000, 250_000);
  assert.equal(await animals(page).getAttribute("aria-rowcount"), "1000001");
  assert.equal(await rowOf(page, dog(999_999)).getAttribute("aria-rowindex"), "1000001");

  await drag(page, 0.5);
  await page.locator("tr[data-index]:not(:has(a))").first().waitFor({ state: "detached" });
  const middle = await edgeOf(page);
  assert.ok(Math.abs(middle.index - 500_000) < 10_000, String(middle.index));
  await page.mouse.move(640, 450);
  const rowPx = await page.evaluate<number>("document.querySelector('tr[data-index]').offsetHeight");
  const along = ({ index, top }: typeof middle) => (index - middle.index) * rowPx - (top - middle.top);
  for (let turn = 1; turn <= 10; turn++) {
    await page.mouse.wheel(0, 530);
    await until(async () => along(await edgeOf(page)) >= turn * 530 - 1);
  }
  assert.ok(Math.abs(along(await edgeOf(page)) - 10 * 530) < 20, "the wheel goes along the rows, none is left out");
  assert.ok((await page.locator("tbody tr").count()) < 60);

  await drag(page, 0);
  await rowOf(page, dog(0)).waitFor();
  assert.equal((await edgeOf(page)).index, 0);
});

test("pages far from the window are dropped, and loaded again when they come back into view", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const categoryId = await shop.category("Dogs");
  const names = Array.from({ length: 700 }, (_, index) => ({ name: dog(index), categoryId }));
  await shop.ask("POST", "/pets/batch", names);
  const page = await shop.open("/animals?sort=name");
  await rowOf(page, dog(0)).waitFor();
  await toTheEnd(page, 700, 100);
  const [first] = (await shop.ask<Pet[]>("GET", "/pets?sort=name&limit=1")).body;
  await shop.ask("PATCH", `/pets/${first?.id}`, { name: "Ann" });
  await drag(page, 0);
  await rowOf(page, "Ann").waitFor();
  assert.equal(await animals(page).getAttribute("aria-rowcount"), "701");
  await drag(page, 1);
  await rowOf(page, dog(699)).waitFor();
});

test("a deleted row leaves the others in place, and scrolling still reaches the end", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const categoryId = await shop.category("Dogs");
  const names = Array.from({ length: 250 }, (_, index) => ({ name: dog(index), categoryId }));
  await shop.ask("POST", "/pets/batch", names);
  const page = await shop.open("/animals?sort=name");
  await toTheEnd(page, 250, 100);
  await scrollUp(page, 3_000);
  const edge = await edgeOf(page);
  await page.getByRole("button", { name: `Actions for ${dog(edge.index + 5)}` }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await rowOf(page, dog(edge.index + 5)).waitFor({ state: "detached" });
  assert.deepEqual(await edgeOf(page), edge);
  assert.equal(await animals(page).getAttribute("aria-rowcount"), "250");
});

test("on a phone, cards of different heights keep their place while those above them load", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const categoryId = await shop.category("Dogs");
  const names = Array.from({ length: 300 }, (_, index) => ({ name: `${dog(index)} ${"of a long name ".repeat(index % 8)}`, categoryId }));
  await shop.ask("POST", "/pets/batch", names);
  const page = await shop.open("/animals?sort=name", { viewport: phone });
  await rowOf(page, dog(0)).waitFor();
  await toTheEnd(page, 300, 100);
  for (let turn = 0; turn < 20; turn++) {
    const before = await edgeOf(page);
    await scrollUp(page, 300);
    const after = await page.evaluate<number>(`document.querySelector('tr[data-index="${before.index}"]').getBoundingClientRect().top`);
    assert.ok(Math.abs(after - before.top - 300) < 2, `turn ${turn}: ${after - before.top}`);
  }
  await drag(page, 0);
  await rowOf(page, dog(0)).waitFor();
});

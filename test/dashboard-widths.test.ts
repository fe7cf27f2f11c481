import assert from "node:assert/strict";
import { test } from "node:test";
import sql from "sql-template-tag";
import { stage } from "./support/browser.ts";
import { openDashboardShop, type DashboardShop } from "./support/dashboard-shop.ts";
import { goWithin, overflow } from "./support/pages.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);

/** From a small phone to a large screen, closest where the menu moves to the side and tables become cards. */
const widths = [320, 360, 414, 480, 600, 700, 761, 820, 921, 992, 1024, 1100, 1150, 1280, 1440, 1920];
const paths = [
  "",
  "animals",
  "animals/new",
  "animals/bin",
  "categories",
  "orders",
  "reservations",
  "inventory",
  "import",
  "projects",
  "domains",
  "usage",
  "keys",
  "webhooks",
  "activity",
  "account",
];

/** The words of the page's tables, titles, badges and menu that are cut off or broken in two. Addresses and words of over 20 letters may break. */
const brokenWords = `(() => {
  const broken = [];
  for (const cell of document.querySelectorAll("main td, main th, main h1, main h2, nav a, nav span, [data-tone]")) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { textContent, parentElement } = texts.currentNode;
      const isForReaders = [parentElement, parentElement.closest("thead")].some((one) => one !== null && getComputedStyle(one).clipPath !== "none");
      if (isForReaders || !parentElement.checkVisibility()) continue;
      for (const { index, 0: word } of textContent.matchAll(/(?<=^|[\\s-])[^\\s@/-]{1,20}(?=[\\s-]|$)/g)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, index);
        range.setEnd(texts.currentNode, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        const { right, width } = range.getBoundingClientRect();
        if (lines.size !== 1 || width === 0 || right > cell.getBoundingClientRect().right + 1) broken.push(word + " in " + textContent);
      }
    }
  }
  return broken;
})()`;

/** The values of cards without a label. What a card is about, such as a name or a request, and badges need none. */
const bareValues = `(() => {
  const isClear = (cell) => cell.matches("[data-column=name], [data-column=animal], :first-child:not([data-column=id]), :has([data-tone])");
  const hasLabel = (cell) => {
    const { content, display } = getComputedStyle(cell, "::before");
    return content !== "none" && display !== "none";
  };
  const cells = [...document.querySelectorAll("table[data-cards=true] td[data-label]")].filter((cell) => cell.checkVisibility());
  return cells.filter((cell) => !isClear(cell) && !hasLabel(cell)).map((cell) => cell.dataset.label + " " + cell.innerText);
})()`;

/** Reservations and enquiries of every state, about these animals; those that still have a contact have all of its fields. */
async function addReservations(shop: DashboardShop, pets: readonly number[]): Promise<void> {
  const contact = {
    name: "Bartholomew Featherstonehaugh",
    email: "bartholomew.featherstonehaugh@correspondence.example.com",
    phone: "+44 20 7946 0958",
    note: "Is she good with cats, horses and grandparents?",
  };
  const now = Date.now();
  const hourMs = 3_600_000;
  const kinds = [
    { state: "open", isHeld: true },
    { state: "open" },
    { state: "accepted", isHeld: true },
    { state: "accepted", isHeld: true, isEnded: true },
    { state: "accepted", isEnded: true },
    { state: "refused", isEnded: true },
    { state: "lapsed", isHeld: true, isEnded: true },
    { state: "cancelled", isHeld: true, isEnded: true },
  ];
  for (const [i, { state, isHeld = false, isEnded = false }] of kinds.entries()) {
    const petId = pets[i % pets.length]!;
    const orderId = isHeld ? (await shop.ask<{ id: number }>("POST", "/store/orders", { petId })).body.id : null;
    if (orderId !== null) await shop.ask("PUT", `/store/orders/${orderId}/contact`, contact);
    const own = orderId === null ? contact : { name: null, email: null, phone: null, note: null };
    await service.db.write((tx) =>
      tx.query(sql`INSERT INTO reservations
        (account_id, id, pet_id, order_id, state, link_hash, created_at, lapses_at, ended_at, name, email, phone, note, version)
        VALUES (${shop.id}, ${10_000 + i}, ${petId}, ${orderId}, ${state}, ${`${shop.id} ${i}`}, ${now - i * 30 * hourMs},
          ${state === "open" ? now + 30 * hourMs : null}, ${isEnded ? now : null}, ${own.name}, ${own.email}, ${own.phone}, ${own.note}, 1)`),
    );
  }
}

test("no page breaks a word, hides a name or shows a value without its label, however wide the window is", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const category = await shop.category("Hunting and companion dogs");
  const add = async (method: string, path: string, body: object) => {
    const answer = await shop.ask<{ id: number }>(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status}`);
    return answer.body.id;
  };
  const pets: number[] = [];
  let order = 0;
  for (const name of ["Sir Reginald Featherstonehaugh of Underwood", "charlie", "Bello"]) {
    const petId = await shop.pet(name, category);
    pets.push(petId);
    await add("PUT", `/store/inventory/${petId}`, { quantity: 1_250 });
    order = await add("POST", "/store/orders", { petId, quantity: 12 });
  }
  await addReservations(shop, pets);
  const webhook = await add("POST", "/webhooks", { url: "https://stock.example.com/changes", types: ["pet.created"] });
  const project = await add("POST", "/projects", { name: "The shop of Sir Reginald", slug: `wide-${shop.id}` });
  const ofProject = ["shop", "versions", "domains", "settings"].map((tab) => `projects/${project}/${tab}`);
  await shop.bin(await shop.pet("Sir Bartholomew Featherstonehaugh of Underwood", category));
  const page = await shop.open("");
  const found: string[] = [];
  for (const path of [...paths, `animals/${pets[1]}`, `orders/${order}`, `webhooks/${webhook}`, ...ofProject]) {
    if (path !== "") await goWithin(page, `/dashboard/${path}`);
    await page.getByRole("main").locator("p, table").first().waitFor();
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      const at = `/${path} at ${width} px`;
      if ((await overflow(page)) > 0) found.push(`${at}: wider than the window`);
      found.push(...(await page.evaluate<string[]>(brokenWords)).map((word) => `${at}: ${word}`));
      found.push(...(await page.evaluate<string[]>(bareValues)).map((value) => `${at}: ${value} without a label`));
    }
  }
  assert.deepEqual(found, []);
});

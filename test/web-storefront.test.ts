import assert from "node:assert/strict";
import { before, test } from "node:test";
import { stage } from "./support/browser.ts";
import { assertAccessibleOnPhone, overflow, phone, smallestPhone, visit } from "./support/pages.ts";
import { picture } from "./support/pictures.ts";
import { startService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";
import { openStorefront } from "./support/storefront.ts";

const [browser, service] = await stage(() => startService());
let url: string;
let rex: number;
let dogs: number;
before(async () => {
  dogs = (await newCategory(service, "Dogs")).id;
  rex = (await newPet(service, dogs, { name: "Rex" })).id;
  await newPet(service, dogs, { name: "W".repeat(200), status: "pending" });
  await made(service, "PUT", `/pets/${rex}/profile`, { description: "Friendly.", price: { amount: 4_900, currency: "EUR" } });
  const photo = { body: await picture("teal"), headers: { "content-type": "image/jpeg" } };
  for (let i = 0; i < 2; i++) await service.ask("POST", `/pets/${rex}/profile/photos?alt=Rex`, photo);
  const contact = { email: "a@b.example", phone: "030 1", address: "Linden Street" };
  // yellow cannot be read on white, so texts must be darker
  ({ url } = await openStorefront(service, "rex", { colour: "#ffe14d", contact, hours: [{ days: "Mon", time: "9 – 18" }] }));
});

const shift = `new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => { sum += entry.value; })).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum), 300);
})`;

for (const path of ["/", "/animals/1", "/?q=nobody", "/nope"]) {
  test(`${path} is accessible in light and dark, fits 320 pixels, does not shift, and breaks no policy`, async (t) => {
    const { page } = await visit(t, browser, url + path);
    assert.ok((await page.evaluate<number>(shift)) <= 0.02);
    await assertAccessibleOnPhone(page, path);
    await page.setViewportSize({ width: 320, height: 700 });
    assert.equal(await overflow(page), 0);
    const isStyled = await page.evaluate<string>("getComputedStyle(document.body).margin");
    assert.equal(isStyled, "0px", "the policy allows the style sheet");
  });
}

test("an address without a site shows a page that is accessible in light and dark and fits 320 pixels", async (t) => {
  const { page } = await visit(t, browser, url.replace("//rex.", "//nobody."));
  await page.getByText("There is no site at this address.").waitFor();
  await assertAccessibleOnPhone(page);
});

test("the shop's colour stays as it is on buttons, with text that can be read", async (t) => {
  const { page } = await visit(t, browser, url);
  const colours = await page.evaluate<string[]>(
    `(({ backgroundColor, color }) => [backgroundColor, color])(getComputedStyle(document.querySelector("button")))`,
  );
  assert.deepEqual(colours, ["rgb(255, 225, 77)", "rgb(0, 0, 0)"]);
});

test("a visitor without JavaScript searches, filters, and opens an animal with its pictures, price and contact", async (t) => {
  const { page } = await visit(t, browser, url, { javaScriptEnabled: false });
  await page.getByRole("searchbox").fill("re");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("link", { name: "Rex", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Rex" }).waitFor();
  await page.getByText("€49.00").waitFor();
  assert.equal(await page.getByRole("img", { name: "Rex" }).count(), 2);
  assert.match(String(await page.getByRole("link", { name: "Ask about Rex" }).getAttribute("href")), /^mailto:a@b\.example\?subject=Rex/);
  await page.getByRole("link", { name: "Dogs" }).click();
  await page.getByRole("heading", { level: 1, name: "Dogs" }).waitFor();
});

test("a portrait fills the frame of its card as other pictures do, with the part where a head is", async (t) => {
  const cats = await newCategory(service, "Cats");
  const { id } = await newPet(service, cats.id, { name: "Mia" });
  const portrait = await picture("teal", { width: 300, height: 900 });
  await service.ask("POST", `/pets/${id}/profile/photos?alt=Mia`, { body: portrait, headers: { "content-type": "image/jpeg" } });
  for (const width of [360, 1280]) {
    const { page } = await visit(t, browser, url, { viewport: { width, height: 900 } });
    const shapes = `[...document.querySelectorAll(".card .frame")].map((frame) => {
      const [box, image] = [frame, frame.querySelector("img") ?? frame].map((one) => one.getBoundingClientRect());
      return [box.width / box.height, image.width / box.width, image.height / box.height].map((ratio) => ratio.toFixed(2)).join();
    })`;
    assert.deepEqual([...new Set(await page.evaluate<string[]>(shapes))], ["0.80,1.00,1.00"], `${width} px`);
  }
});

const week = [
  { days: "Mon – Fri", time: "9 – 18" },
  { days: "Sat", time: "22 – 2" },
];

test("the first page of each theme takes at most 100 KB without photos, and does not shift when its typefaces come late", async (t) => {
  for (const theme of ["modern", "classic", "playful"]) {
    const about = "A small shop with a large heart, where every animal is healthy and used to people.".repeat(2);
    const { url: site } = await openStorefront(service, theme, {
      theme,
      tagline: "Good friends for good homes",
      about,
      hours: week,
      timeZone: "Europe/Berlin",
    });
    const { page } = await visit(t, browser, `${site}/nope`);
    const sizes: Promise<number>[] = [];
    page.on("response", (response) => {
      if (!response.url().includes("/photos/"))
        sizes.push(
          response
            .request()
            .sizes()
            .then(({ responseBodySize }) => responseBodySize),
        );
    });
    await page.route("**/fonts/*", async (route) => {
      await page.getByRole("heading", { level: 1, name: "Good friends" }).waitFor(); // painted in the system's typeface
      await route.continue();
    });
    await page.goto(site);
    await page.evaluate("document.fonts.ready");
    assert.ok(await page.evaluate(`document.fonts.check("1rem Figtree")`), "the typeface is there");
    assert.ok((await page.evaluate<number>(shift)) <= 0.02, theme);
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    assert.ok(bytes > 10_000 && bytes <= 100_000, `${theme}: ${bytes} bytes`);
    await assertAccessibleOnPhone(page, theme);
  }
});

test("a page says by the shop's clock whether it is open; without JavaScript it says the hours", async (t) => {
  const { url: site } = await openStorefront(service, "clock", {
    hours: week,
    timeZone: "America/New_York",
    contact: { phone: "+1 212 555 0123 ext. 4567" },
  });
  const { page } = await visit(t, browser, site);
  // 2 December 2026 is a Wednesday, and New York is five hours behind UTC
  for (const [time, words] of [
    ["2026-12-02T14:30:00Z", "Open until 18:00"],
    ["2026-12-02T13:30:00Z", "Opens today at 09:00"],
    ["2026-12-02T23:00:00Z", "Opens tomorrow at 09:00"],
    ["2026-12-06T06:59:00Z", "Open until 02:00"],
    ["2026-12-06T07:00:00Z", "Opens tomorrow at 09:00"],
    ["2026-12-05T01:00:00Z", "Opens tomorrow at 22:00"],
  ] as const) {
    await page.clock.setFixedTime(time);
    await page.reload();
    await page.getByText(words, { exact: true }).waitFor();
    await page.setViewportSize(smallestPhone);
    assert.ok(
      await page.evaluate<boolean>(`(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector(".bar p"))`),
      words,
    );
  }
  await page.getByRole("link", { name: "Call us" }).waitFor();
  const { page: plain } = await visit(t, browser, site, { javaScriptEnabled: false });
  await plain.getByText("Mon – Fri 9 – 18 · Sat 22 – 2", { exact: true }).waitFor();
});

test("photos are turned by buttons, arrow keys, thumbnails and, without JavaScript, by scrolling", async (t) => {
  const { page } = await visit(t, browser, `${url}/animals/${rex}`);
  await page.getByText("1 of 2").waitFor();
  await page.getByRole("button", { name: "Next photo" }).click();
  await page.getByText("2 of 2").waitFor();
  assert.ok(await page.getByRole("button", { name: "Next photo" }).isDisabled());
  await page.getByRole("region", { name: "Photos of Rex" }).press("ArrowLeft");
  await page.getByText("1 of 2").waitFor();
  await page.getByRole("link", { name: "Photo 2" }).click();
  await page.getByText("2 of 2").waitFor();
  assert.equal(new URL(page.url()).hash, "", "no entry in the history for each photo");
  const { page: plain } = await visit(t, browser, `${url}/animals/${rex}`, { javaScriptEnabled: false });
  assert.equal(await plain.getByRole("button", { name: "Next photo" }).count(), 0);
  await plain.getByRole("link", { name: "Photo 2" }).click();
  await plain.waitForFunction(`document.querySelector(".strip").scrollLeft > 0`);
});

test("each photo has a name for screen readers, and its place is said when the gallery turns", async (t) => {
  const { id } = await newPet(service, dogs, { name: "Max" });
  const photo = { body: await picture("teal"), headers: { "content-type": "image/jpeg" } };
  for (let i = 0; i < 2; i++) await service.ask("POST", `/pets/${id}/profile/photos`, photo);
  const { page } = await visit(t, browser, `${url}/animals/${id}`);
  for (const name of ["Max, photo 1", "Max, photo 2"]) assert.equal(await page.getByRole("img", { name, exact: true }).count(), 1);
  assert.equal(await page.getByText("1 of 2").getAttribute("aria-live"), "polite");
});

test("on a phone a list by a fact begins with the link that removes the filter, and the other filters are folded", async (t) => {
  for (const [name, size] of [
    ["Fido", "Tiny"],
    ["Goliath", "Large"],
  ] as const) {
    const { id } = await newPet(service, dogs, { name });
    await made(service, "PUT", `/pets/${id}/profile`, { facts: { size } });
  }
  const { page } = await visit(t, browser, `${url}/?size=Tiny`, { viewport: phone });
  assert.ok(await page.getByRole("link", { name: "Fido", exact: true }).isVisible());
  assert.ok(await page.getByRole("link", { name: "Tiny", exact: true }).isHidden());
  await page.getByText("More filters").click();
  await page.getByRole("link", { name: "Tiny", exact: true }).waitFor();
  await assertAccessibleOnPhone(page);
  await page.getByRole("link", { name: "Remove the filter Size: Tiny" }).click();
  await page.getByRole("heading", { level: 1, name: "Welcome to Rex & Co." }).waitFor();
});

test("a form that is refused puts the focus on the first wrong field, which has its error and its hint as description", async (t) => {
  const { id } = await newPet(service, dogs, { name: "Asked" });
  await made(service, "PUT", `/store/inventory/${id}`, { quantity: 1 });
  const { url: site } = await openStorefront(service, "forms", { reservations: { enabled: true } });
  const { page } = await visit(t, browser, `${site}/animals/${id}/reserve`, { viewport: phone });
  await assertAccessibleOnPhone(page);
  await page.getByLabel("Your name").fill("Ann");
  await page.getByRole("button", { name: "Only ask" }).click();
  await page.locator("#email[aria-invalid]:focus").waitFor();
  const described = "Please enter an email address or a telephone number. An email address or a telephone number is enough.";
  await page.getByRole("textbox", { name: "Email", description: described }).waitFor();
  assert.match(await page.title(), /^Please check: Reserve Asked/);
  assert.equal(await page.getByLabel("Your name").inputValue(), "Ann");
  await assertAccessibleOnPhone(page);
});

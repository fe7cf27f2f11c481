import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, test, type TestContext } from "node:test";
import type { Locator, Page } from "playwright-core";
import { outlineOf } from "../src/publishing/storefront/silhouettes.ts";
import { stage } from "./support/browser.ts";
import { openDashboardShop } from "./support/dashboard-shop.ts";
import { assertAccessibleOnPhone, findings } from "./support/pages.ts";
import { picture } from "./support/pictures.ts";
import { openPlatform } from "./support/platform.ts";
import type { Profile } from "./support/profiles.ts";
import { packSite } from "./support/sites.ts";
import { until } from "./support/until.ts";

const [browser, platform] = await stage(openPlatform);

/** What the frame of the preview shows. The page around it reads it, because nothing runs in the frame, not even what a test would run there. */
type Framed = { text: string; scrolled: number; photos: number; hasFont: boolean };
const shownIn = (page: Page): Promise<Framed> =>
  page.evaluate<Framed>(`(() => {
    const { body, defaultView, images, fonts } = document.querySelector("iframe").contentDocument;
    const photos = [...images].filter(({ currentSrc, naturalWidth }) => currentSrc.includes("/photos/") && naturalWidth > 0).length;
    return { text: body?.textContent ?? "", scrolled: defaultView.scrollY, photos, hasFont: fonts.check('20px "Baloo 2"') };
  })()`);
const showsText = (page: Page, text: string): Promise<void> => until(async () => (await shownIn(page)).text.includes(text));

suite("a shop from the dashboard", () => {
  test("one button publishes the shop, and a form changes how it looks", async (t) => {
    const shop = await openDashboardShop(t, browser, platform.service);
    await shop.pet("Rex", await shop.category("Dogs"));
    const { body } = await shop.ask<{ id: number }>("POST", "/projects", { name: "Rex & Co.", slug: "rex-shop" });
    const page = await shop.open(`/projects/${body.id}`);
    await page.getByRole("button", { name: "Publish the shop" }).click();
    await page.getByLabel("Name of the shop").waitFor();
    const first = await platform.http("rex-shop.sites.test", "/");
    assert.deepEqual([first.status, first.body.includes("Welcome to Rex &#38; Co.")], [200, true]);
    assert.deepEqual(await findings(page), []);

    await page.getByLabel("Headline").fill("Good <friends>");
    await page.getByLabel("Email").fill("hello@rex.example");
    await page.getByLabel("Opening hours").fill("Mon – Fri: 9 – 18\nSat 10:30 – 16");
    await page.getByRole("button", { name: "Publish the changes" }).click();
    await page.getByText("Published. Your shop shows the changes.").waitFor();
    const second = (await platform.http("rex-shop.sites.test", "/")).body;
    for (const text of ["Good &#60;friends&#62;", "mailto:hello@rex.example", "9 – 18", "10:30 – 16"])
      assert.ok(second.includes(text), text);
    await page.reload();
    assert.equal(
      await page.getByLabel("Opening hours").inputValue(),
      "Mon – Fri: 9 – 18\nSat: 10:30 – 16",
      "the form begins with what is live",
    );
    await assertAccessibleOnPhone(page);
  });

  test("the form changes the look, the time zone and the social links, and says at the field what is wrong", async (t) => {
    const shop = await openDashboardShop(t, browser, platform.service);
    const luna = await shop.pet("Luna", await shop.category("Cats"));
    const milo = await shop.pet("Milo", await shop.category("Dogs"));
    for (const [id, colour] of [
      [luna, "teal"],
      [milo, "teal"],
      [luna, "coral"],
    ] as const)
      await shop.ask("POST", `/pets/${id}/profile/photos`, await picture(colour), { "content-type": "image/jpeg" });
    const { body } = await shop.ask<{ id: number }>("POST", "/projects", { name: "Luna", slug: "luna-shop" });
    const photosHost = `photos.sites.test:${platform.service.publishing.addresses()!.http.port}`;
    const page = await shop.open(`/projects/${body.id}`, { hosts: [photosHost] });
    await page.getByRole("button", { name: "Publish the shop" }).click();
    await page.getByLabel("Look").selectOption("Classic: warm, with serifs");
    const hours = page.getByRole("textbox", { name: "Opening hours" });
    const unsure = page.getByText("they can be read in more than one way");
    await hours.fill("Mon – Sun: 9 – 5");
    await unsure.waitFor();
    await hours.fill("Mon – Sun 9 – 18\nSun closed");
    await unsure.waitFor({ state: "detached" });
    await page.getByRole("combobox", { name: "Time zone" }).fill("berlin");
    await page.getByRole("option", { name: "Europe/Berlin" }).click();
    await page.getByLabel("Picture at the top").selectOption("A photo of an animal that you choose");
    const chosen = page.getByRole("combobox", { name: "Animal at the top" });
    await chosen.fill("lun");
    await page.getByRole("option", { name: /^Luna/ }).waitFor();
    await chosen.press("ArrowDown");
    await chosen.press("Enter");
    await page.getByRole("radio", { name: "Photo 1", checked: true }).waitFor();
    await page.getByRole("radio", { name: "Photo 2" }).check();
    const social = page.getByLabel("Social networks");
    await social.fill("instagram.com/luna");
    await page.getByRole("button", { name: "Publish the changes" }).click();
    await page.getByText("must be an https address").waitFor();
    assert.equal(await social.getAttribute("aria-invalid"), "true");
    assert.deepEqual(await findings(page), []);
    await social.fill("https://www.instagram.com/luna\nhttps://bsky.app/profile/luna");
    await page.getByRole("button", { name: "Publish the changes" }).click();
    await page.getByText("Published. Your shop shows the changes.").waitFor();
    const shown = (await platform.http("luna-shop.sites.test", "/")).body;
    for (const text of ["Fraunces", 'data-zone="Europe/Berlin"', "<dt>Sun</dt>", "Instagram", "Bluesky", "Meet Luna"])
      assert.ok(shown.includes(text), text);
    const { photos } = (await shop.ask<Profile>("GET", `/pets/${luna}/profile`)).body;
    const top = /class="hero.*?<\/figure>/s.exec(shown)?.[0];
    assert.ok(top?.includes(new URL(photos[1]!.sources[0]!.url).pathname), "the second photo is at the top");
    await page.reload();
    await page.getByRole("radio", { name: "Photo 2", checked: true }).waitFor();
    assert.equal(await page.getByRole("combobox", { name: "Time zone" }).inputValue(), "Europe/Berlin");
    assert.equal(await page.getByLabel("Look").inputValue(), "classic");
    await until(async () => (await chosen.inputValue()).startsWith("Luna"));
    assert.equal(await social.inputValue(), "https://www.instagram.com/luna\nhttps://bsky.app/profile/luna");
  });

  test("the form adds the shop's own pages, which get their addresses by their titles, and removes them", async (t) => {
    const shop = await openDashboardShop(t, browser, platform.service);
    const { body } = await shop.ask<{ id: number }>("POST", "/projects", { name: "Pages", slug: "pages-shop" });
    const page = await shop.open(`/projects/${body.id}`);
    await page.getByRole("button", { name: "Publish the shop" }).click();
    await page.getByRole("button", { name: "Add a page" }).click();
    await page.locator("[aria-label='Title of page 1']:focus").waitFor();
    await page.getByLabel("Text of page 1").fill("We **love** animals.");
    await page.getByRole("button", { name: "Publish the changes" }).click();
    await page.getByText("Page 1: its title is missing.").waitFor();
    assert.equal(await page.getByLabel("Title of page 1").getAttribute("aria-invalid"), "true");
    await assertAccessibleOnPhone(page);
    for (const place of [1, 2]) {
      if (place === 2) await page.getByRole("button", { name: "Add a page" }).click();
      await page.getByLabel(`Title of page ${place}`).fill("Über uns");
      await page.getByLabel(`Text of page ${place}`).fill(`We **love** animal ${place}.`);
    }
    const publish = async (nth: number) => {
      await page.getByRole("button", { name: "Publish the changes" }).click();
      await page.getByText("Published. Your shop shows the changes.").nth(nth).waitFor();
    };
    await publish(0);
    await page.getByText("/pages/uber-uns-2").waitFor();
    const visit = (slug: string) => platform.http("pages-shop.sites.test", `/pages/${slug}`);
    assert.ok((await visit("uber-uns")).body.includes("We <strong>love</strong> animal 1."));
    assert.ok((await visit("uber-uns-2")).body.includes("animal 2."));
    await page.getByRole("button", { name: "Remove page 1" }).click();
    await page.getByRole("button", { name: "Add a page" }).and(page.locator(":focus")).waitFor();
    await publish(1);
    await page.getByText("/pages/uber-uns-2").waitFor();
    assert.deepEqual([(await visit("uber-uns")).status, (await visit("uber-uns-2")).status], [404, 200]);
  });

  test("the preview shows the first page with what is typed, runs no script, and stays where it is scrolled", async (t) => {
    const shop = await openDashboardShop(t, browser, platform.service);
    const id = await shop.pet("Rex", await shop.category("Dogs"));
    await shop.ask("POST", `/pets/${id}/profile/photos`, await picture("teal"), { "content-type": "image/jpeg" });
    const { body } = await shop.ask<{ id: number }>("POST", "/projects", { name: "Seen", slug: "seen-shop" });
    const photosHost = `photos.sites.test:${platform.service.publishing.addresses()!.http.port}`;
    const page = await shop.open(`/projects/${body.id}`, { hosts: [photosHost] });
    await page.getByRole("button", { name: "Publish the shop" }).click();
    await page.route(`http://${photosHost}/photos/*`, async (route) =>
      route.fulfill({ contentType: "image/webp", body: await picture("teal", { width: 480, format: "webp" }) }),
    );
    await page.getByRole("button", { name: "Show the preview" }).click();
    const preview = page.getByRole("region", { name: "Preview" });
    await showsText(page, "Welcome to Seen");
    assert.equal(await preview.locator("iframe").getAttribute("sandbox"), "allow-same-origin");
    await page.getByLabel("Look").selectOption("playful");
    await page.getByLabel("Headline").fill("Good <b>friends</b>");
    await showsText(page, "Good <b>friends</b>");
    await until(async () => (await shownIn(page)).photos > 0 && (await shownIn(page)).hasFont);
    await preview.getByText("Phone", { exact: true }).click();
    await page.evaluate("document.querySelector('iframe').contentWindow.scrollTo(0, 300)");
    await page.getByLabel("Telephone").fill("+49 30 123456");
    await showsText(page, "+49 30 123456");
    await until(async () => (await shownIn(page)).scrolled === 300);

    await page.getByLabel("Email").fill("nobody");
    await preview.getByRole("status").getByText("Email must be an email address.").waitFor();
    assert.ok((await shownIn(page)).text.includes("+49 30 123456"), "the last page stays");
    assert.ok(!(await platform.http("seen-shop.sites.test", "/")).body.includes("friends"), "nothing is published");
    await page.getByLabel("Email").fill("");
    await page.getByRole("button", { name: "Publish the changes" }).click();
    await page.getByText("Published. Your shop shows the changes.").waitFor();
    await showsText(page, "Good <b>friends</b>");
    await assertAccessibleOnPhone(page);
    await preview.getByRole("button", { name: "Hide the preview" }).click();
    assert.equal(await preview.locator("iframe").count(), 0);
  });

  test("Home shows the first page of the published shop, and leads to it", async (t) => {
    const shop = await openDashboardShop(t, browser, platform.service);
    await shop.pet("Rex", await shop.category("Dogs"));
    const { body } = await shop.ask<{ id: number; url: string }>("POST", "/projects", { name: "Daily", slug: "daily-shop" });
    const page = await shop.open("");
    const part = page.getByRole("region", { name: "Your shop", exact: true });
    await page.getByRole("region", { name: "Your plan" }).waitFor();
    assert.equal(await part.count(), 0, "nothing is published");
    await page.goto(`${platform.service.address}/dashboard/projects/${body.id}`);
    await page.getByRole("button", { name: "Publish the shop" }).click();
    await page.getByLabel("Name of the shop").waitFor();
    await page.getByRole("link", { name: "Home", exact: true }).click();
    await part.waitFor();
    await showsText(page, "Welcome to Daily");
    assert.equal(await part.getByRole("link").first().getAttribute("href"), body.url);
    assert.equal(await part.locator("iframe").getAttribute("sandbox"), "allow-same-origin");
    await assertAccessibleOnPhone(page);
    await part.getByRole("link", { name: "Change the shop" }).click();
    await page.getByLabel("Name of the shop").waitFor();
  });

  test("the frame of the preview runs no script and reaches no other site, whatever its document has", async (t) => {
    const shop = await openDashboardShop(t, browser, platform.service);
    const { body } = await shop.ask<{ id: number }>("POST", "/projects", { name: "Framed", slug: "framed-shop" });
    const other = await startOther(t);
    const page = await shop.open(`/projects/${body.id}`, { hosts: [new URL(other.url).host] }); // what is blocked counts as asked
    await page.getByRole("button", { name: "Publish the shop" }).click();
    page.removeAllListeners("console"); // the browser logs what it blocks
    const html = `<!doctype html><head><link rel="stylesheet" href="${other.url}style" /><meta http-equiv="refresh" content="0;${other.url}away" /></head>
      <body><script>parent.hasRun = true;</script><img src="${other.url}picture" onerror="parent.hasRun = true" /><iframe src="${other.url}frame"></iframe>
      <form action="${other.url}form" target="_top"><button autofocus>Send</button></form><p style="background:url(${other.url}background)">All shown</p></body>`;
    await page.route("**/storefront/preview", (route) => route.fulfill({ json: { html } }));
    await page.getByRole("button", { name: "Show the preview" }).click();
    await showsText(page, "All shown");
    await page.evaluate("document.querySelector('iframe').contentDocument.querySelector('button').click()");
    await until(() => page.evaluate<boolean>("document.querySelector('iframe').contentDocument.images[0].complete"));
    assert.equal(await page.evaluate("globalThis.hasRun"), undefined);
    await showsText(page, "All shown");
    assert.deepEqual(other.paths, []);
  });

  test("a logo is published when it is chosen, without discarding typed text, and is removed with one button", async (t) => {
    const shop = await openDashboardShop(t, browser, platform.service);
    const { body } = await shop.ask<{ id: number }>("POST", "/projects", { name: "Logo", slug: "logo-shop" });
    const page = await shop.open(`/projects/${body.id}`, { hosts: [""] }); // the preview is a blob, which has no host
    await page.getByRole("button", { name: "Publish the shop" }).click();
    await page.getByLabel("Headline").fill("Typed before");
    const logo = { name: "logo.png", mimeType: "image/png", buffer: await picture("teal", { width: 90, height: 90, format: "png" }) };
    await page.getByRole("group", { name: "Logo" }).locator("input[type=file]").setInputFiles(logo);
    await page.getByRole("img", { name: "Your logo as it is now" }).waitFor();
    assert.equal(await page.getByLabel("Headline").inputValue(), "Typed before");
    await assertAccessibleOnPhone(page);
    assert.match((await platform.http("logo-shop.sites.test", "/")).body, /alt="Logo" width="44"/);
    await page.getByLabel("Email").fill("nobody");
    await page.getByRole("button", { name: "Publish the changes" }).click();
    await page.getByText("must be an email address").waitFor();
    await page.getByRole("button", { name: "Remove the logo" }).click();
    await page.getByRole("button", { name: "Choose a logo" }).waitFor();
    assert.ok(!(await platform.http("logo-shop.sites.test", "/")).body.includes('alt="Logo"'));
  });

  test("the shop replaces a start page only after a confirmation, and the other files stay", async (t) => {
    const shop = await openDashboardShop(t, browser, platform.service);
    const { body } = await shop.ask<{ id: number }>("POST", "/projects", { name: "Old site", slug: "old-site" });
    const archive = Buffer.from(await packSite({ "petstore.json": "{}", "index.html": "my page", "menu.txt": "menu" }));
    const { status } = await shop.ask("POST", `/projects/${body.id}/deployments`, archive, { "content-type": "application/gzip" });
    assert.equal(status, 202);
    await platform.service.publishing.idle();
    const page = await shop.open(`/projects/${body.id}/shop`);
    await page.getByRole("button", { name: "Publish the shop" }).click();
    await page.getByRole("dialog").getByText("index.html").waitFor();
    assert.equal((await platform.http("old-site.sites.test", "/")).body, "my page");
    await assertAccessibleOnPhone(page);
    await page.getByRole("dialog").getByRole("button", { name: "Publish the shop" }).click();
    await page.getByLabel("Name of the shop").waitFor();
    assert.ok((await platform.http("old-site.sites.test", "/")).body.includes("Welcome to Old site"));
    assert.equal((await platform.http("old-site.sites.test", "/menu.txt")).body, "menu");
  });

  test("an animal gets a description, a price and photos on its page, and the shop shows them", async (t) => {
    const shop = await openDashboardShop(t, browser, platform.service);
    const id = await shop.pet("Luna", await shop.category("Cats"));
    const photosHost = `photos.sites.test:${platform.service.publishing.addresses()!.http.port}`;
    const page = await shop.open(`/animals/${id}`, { hosts: [photosHost] });
    const part = page.getByRole("main");
    await part.getByLabel("Description").fill("Purrs.");
    await part.getByLabel("Price").fill("49,5");
    await part.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("is saved.", { exact: false }).first().waitFor();
    const files = await Promise.all(["teal", "coral"].map((colour) => picture(colour, { width: 60, height: 40 })));
    const chosen = files.map((buffer, index) => ({ name: `${index}.jpg`, mimeType: "image/jpeg", buffer }));
    await part.locator("input[type=file]").setInputFiles(chosen);
    await part.getByLabel("Photo 2 in words").fill("Luna on a chair");
    await part.getByLabel("Photo 2 in words").blur();
    await part.getByRole("img", { name: "Luna on a chair" }).waitFor();
    await part.getByRole("button", { name: "Move left: photo 2" }).click();
    await part.getByText("Photo 2 is now the first, the cover.").waitFor();
    assert.deepEqual(await findings(page), []);
    type Shown = { description: string; price: object; photos: { alt: string }[] };
    const { body } = await shop.ask<Shown>("GET", `/pets/${id}/profile`);
    assert.deepEqual([body.description, body.price], ["Purrs.", { amount: 4_950, currency: "EUR" }]);
    assert.deepEqual(
      body.photos.map(({ alt }) => alt),
      ["Luna on a chair", ""],
    );
    await part.getByRole("button", { name: "Remove photo 2" }).click();
    await part.getByRole("button", { name: "Remove photo 2" }).waitFor({ state: "detached" });
    await part.locator("input[type=file]").setInputFiles({ name: "x.jpg", mimeType: "image/jpeg", buffer: Buffer.from("no picture") });
    await part.getByText("The picture cannot be used").waitFor();
  });

  test("lists, the palette and pickers show the first photo of each animal, read for all rows at once, and the list its price", async (t) => {
    const shop = await openDashboardShop(t, browser, platform.service);
    const cats = await shop.category("Cats");
    const [luna, plain] = [await shop.pet("Luna", cats), await shop.pet("Lucy", cats)];
    await shop.ask("PUT", `/pets/${luna}/profile`, { price: { amount: 4_950, currency: "EUR" } });
    await shop.ask("POST", `/pets/${luna}/profile/photos`, await picture("teal"), { "content-type": "image/jpeg" });
    for (const petId of [luna, plain]) await shop.ask("POST", "/store/orders", { petId });
    const photosHost = `photos.sites.test:${platform.service.publishing.addresses()!.http.port}`;
    const page = await shop.open("/orders", { hosts: [photosHost] });
    const body = await picture("teal", { width: 480, format: "webp" });
    await page.route(`http://${photosHost}/photos/*.webp`, (route) => route.fulfill({ contentType: "image/webp", body }));
    await page.reload();
    const read: number[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/pets/summaries")) read.push(new URL(request.url()).searchParams.getAll("id").length);
    });
    const isShown = (place: Locator) =>
      until(() => place.locator("img").evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth === 480));
    const row = (name: string) => page.getByRole("row").filter({ hasText: name });
    await isShown(row("Luna"));
    assert.equal(await row("Lucy").locator("img").count(), 0);
    await row("Lucy")
      .locator(`path[d="${outlineOf("Cats")}"]`)
      .waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Animals" }).click();
    await page.getByRole("table", { name: "Animals" }).getByText("€49.50").waitFor();
    await isShown(row("Luna"));
    assert.equal(await row("Lucy").locator("img").count(), 0);
    await page.reload();
    await row("Luna").locator("img").waitFor();
    assert.deepEqual([...new Set(read)], [2]);
    assert.deepEqual(await findings(page), []);

    await page.keyboard.press("Control+k");
    await page.keyboard.type(String(luna));
    const option = page.getByRole("dialog").getByRole("button", { name: "Luna" });
    await isShown(option);
    await page.keyboard.press("Escape");
    await page.goto(page.url().replace(/animals.*/, "orders?new=true"));
    await page.getByRole("dialog").getByRole("combobox", { name: "Animal" }).fill("lu");
    await isShown(page.getByRole("option", { name: /^Luna/ }));
    await page.getByRole("option", { name: /^Luna/ }).click();
    await isShown(page.getByRole("dialog").locator("[data-position=left]")); // in the field too
    assert.deepEqual(await findings(page), []);

    for (const petId of [luna, plain]) for (const quantity of [4, 1]) await shop.ask("PUT", `/store/inventory/${petId}`, { quantity });
    await page.goto(page.url().replace(/orders.*/, "inventory"));
    await isShown(row("Luna"));
    await page.goto(page.url().replace(/\/inventory.*/, ""));
    for (const name of ["Open orders", "Low stock"])
      await isShown(page.getByRole("list", { name }).getByRole("listitem").filter({ hasText: "Luna" }));
    assert.deepEqual(await findings(page), []);
  });
});

/** Another site, which notes what browsers ask of it. */
async function startOther(t: TestContext): Promise<{ url: string; paths: string[] }> {
  const paths: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    paths.push(url);
    response.end();
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, paths };
}

import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import type { Deployment } from "../src/publishing/projects/deployments.ts";
import { stage } from "./support/browser.ts";
import { drop } from "./support/drop.ts";
import { assertAccessibleOnPhone, findings, goWithin } from "./support/pages.ts";
import { openPlatform } from "./support/platform.ts";
import { visitSignedIn } from "./support/signed-in.ts";
import { packSite } from "./support/sites.ts";

const [browser, platform] = await stage(openPlatform);

suite("projects in the dashboard", () => {
  const open = (t: TestContext, path: string, options = {}) => visitSignedIn(t, browser, platform.service, path, options);
  const deployments = (page: Page) => page.getByRole("list", { name: "Versions, newest first" }).getByRole("listitem");
  const stored = async (projectId: number) => (await platform.service.ask<Deployment[]>("GET", `/projects/${projectId}/deployments`)).body;

  /** An empty project. */
  async function emptyProject(slug: string, name = slug): Promise<number> {
    return (await platform.service.ask<{ id: number }>("POST", "/projects", { body: { name, slug } })).body.id;
  }

  async function folderOf(t: TestContext, files: Record<string, string | Uint8Array>): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "site-"));
    t.after(() => rm(folder, { recursive: true }));
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    return folder;
  }
  const chooseFolder = (page: Page, folder: string) => page.locator("input[webkitdirectory]").setInputFiles(folder);
  const chooseArchive = (page: Page, name: string, buffer: Uint8Array) =>
    page
      .locator("input[type=file]:not([webkitdirectory])")
      .setInputFiles({ name, mimeType: "application/gzip", buffer: Buffer.from(buffer) });

  test("from an empty account to a served site: create a project, choose a folder, and its files are served unchanged", async (t) => {
    const { id: account } = await platform.service.newAccount("free");
    const { page } = await open(t, "/dashboard/projects", { account });
    await page.getByText("No projects yet").waitFor();
    assert.deepEqual(await findings(page), []);
    await page.getByRole("button", { name: "Create a project" }).click();
    await page.getByLabel("Name").fill("Luna's Corner");
    assert.equal(await page.getByLabel("Web address").inputValue(), "lunas-corner");
    await page.getByRole("button", { name: "Create the project" }).click();
    await page.getByRole("heading", { level: 1, name: "Luna's Corner" }).waitFor();
    await page.getByRole("link", { name: "Upload your own website instead" }).click();
    await page.getByText("Nothing published yet").waitFor();

    const long = `${"deep/".repeat(25)}${"ä".repeat(40)}.css`;
    const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7919) % 251);
    const folder = await folderOf(t, {
      "petstore.json": "{}",
      "index.html": "<h1>Luna</h1>",
      [long]: "a{}",
      "photo.png": bytes,
      ".git/config": "secret",
      "node_modules/x/index.js": "1",
    });
    await chooseFolder(page, folder);
    await page.getByText(/^Version \d+ is live\./).waitFor();
    await deployments(page).getByText("3 files, 293 KiB").waitFor();
    assert.equal((await platform.http("lunas-corner.sites.test", "/")).body, "<h1>Luna</h1>");
    assert.equal((await platform.http("lunas-corner.sites.test", `/${encodeURI(long)}`)).body, "a{}");
    assert.equal((await platform.http("lunas-corner.sites.test", "/photo.png")).headers["content-length"], String(bytes.length));
    assert.equal((await platform.http("lunas-corner.sites.test", "/.git/config")).status, 404);
    assert.equal((await platform.http("lunas-corner.sites.test", "/node_modules/x/index.js")).status, 404);

    await page.getByRole("link", { name: "All projects" }).click();
    await page.getByRole("row", { name: /Luna's Corner.*lunas-corner\.sites\.test.*Live/ }).waitFor();
  });

  test("a folder or an archive can be dropped on the page", async (t) => {
    const id = await emptyProject("dropped");
    const { page } = await open(t, `/dashboard/projects/${id}/versions`);
    const folder = await folderOf(t, { "petstore.json": "{}", "index.html": "dropped", "a/b.html": "b" });
    const archive = join(await folderOf(t, { "site.tgz": await packSite({ "petstore.json": "{}", "index.html": "archive" }) }), "site.tgz");
    const place = page.getByText("Drop a folder or a .zip here");
    await drop(folder, place);
    await page.getByText(/^Version \d+ is live\./).waitFor();
    assert.equal((await platform.http("dropped.sites.test", "/a/b.html")).body, "b");
    const [first] = await stored(id);
    await drop(archive, place);
    await page.getByText(`Version ${first!.id + 1} is live.`).waitFor();
    assert.equal((await platform.http("dropped.sites.test", "/")).body, "archive");
  });

  test("a folder over a limit is refused before any upload", async (t) => {
    const id = await emptyProject("limits");
    const { page, requests } = await open(t, `/dashboard/projects/${id}/versions`);
    const cases: [files: Record<string, string | Uint8Array>, words: RegExp][] = [
      [{ "index.html": "x" }, /no file petstore\.json\. Create one/],
      [{ "dist/petstore.json": "{}", "dist/index.html": "x" }, /there is dist\/petstore\.json/],
      [{ "petstore.json": "{", "index.html": "x" }, /petstore\.json is not JSON/],
      [{ "petstore.json": "{}", "film.mp4": new Uint8Array(25 * 1_048_576 + 1) }, /film\.mp4 is larger than 25 MiB/],
      [
        { "petstore.json": "{}", ...Object.fromEntries(Array.from({ length: 2_001 }, (_, index) => [`${index}.html`, "x"])) },
        /more than 2,000 files/,
      ],
    ];
    for (const [files, words] of cases) {
      await chooseFolder(page, await folderOf(t, files));
      await page.getByRole("alert").getByText(words).waitFor();
    }
    await chooseArchive(page, "site.tar.gz", Buffer.from("no gzip"));
    await page.getByRole("alert").getByText("site.tar.gz is neither a zip file nor a gzipped tar").waitFor();
    assert.deepEqual(
      requests.filter((url) => url.endsWith("/deployments")),
      [],
    );
    assert.deepEqual(await stored(id), []);
    assert.deepEqual(await findings(page), []);
  });

  test("a failed deployment shows why, and the live one stays live", async (t) => {
    const id = await platform.project("failing", { "index.html": "good" });
    const { page } = await open(t, `/dashboard/projects/${id}/versions`);
    await chooseArchive(page, "site.tar.gz", await packSite({ "index.html": "bad", "petstore.json": '{"colour":1}' }));
    await page
      .getByRole("alert")
      .getByText(/unknown field "colour"/)
      .waitFor();
    await deployments(page).first().getByText("Failed", { exact: true }).waitFor();
    await deployments(page)
      .first()
      .getByText(/Why it failed:.*unknown field "colour"/)
      .waitFor();
    await deployments(page).nth(1).getByText("Live").waitFor();
    assert.equal((await platform.http("failing.sites.test", "/")).body, "good");
  });

  test("a refused upload says why; an upload that got no answer can be sent again, and deploys once", async (t) => {
    const id = await emptyProject("again");
    const { page } = await open(t, `/dashboard/projects/${id}/versions`);
    const archive = await packSite({ "index.html": "again", "petstore.json": "{}" });
    await page.route("**/deployments", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await chooseArchive(page, "site.tgz", archive);
    await page.getByRole("alert").getByText("The service could not be reached").waitFor();
    await page.unroute("**/deployments");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText(/^Version \d+ is live\./).waitFor();
    assert.equal((await stored(id)).length, 1);

    await platform.service.ask("DELETE", `/projects/${id}`);
    await chooseArchive(page, "site.tgz", archive);
    await page.getByRole("alert").getByText("This does not exist.").waitFor();
  });

  test("an earlier deployment is promoted with one click and served at once, and Undo brings the other back", async (t) => {
    const id = await platform.project("back", { "index.html": "first" });
    await platform.deploy(id, { "index.html": "second" });
    const { page } = await open(t, `/dashboard/projects/${id}/versions`);
    const [, second] = await stored(id);
    await page.evaluate("globalThis.heading = document.querySelector('h1')");
    await page.getByRole("button", { name: `Make live: version ${second!.id - 1}` }).click();
    await deployments(page).nth(1).getByText("Live").waitFor();
    assert.equal((await platform.http("back.sites.test", "/")).body, "first");
    const own = page.getByRole("link", { name: `Look at version ${second!.id}` });
    assert.equal(await own.getAttribute("href"), second!.url);
    assert.equal((await platform.http(new URL(second!.url!).hostname, "/")).body, "second");
    await page.getByRole("button", { name: "Undo" }).click();
    await deployments(page).nth(0).getByText("Live").waitFor();
    assert.equal((await platform.http("back.sites.test", "/")).body, "second");
    assert.equal(await page.evaluate("heading.isConnected"), true, "the page stays while its project is read again");
    assert.deepEqual(await findings(page), []);
  });

  test("the facts of deployments are in columns, and on a phone on separate lines; axe finds nothing, and they fit it", async (t) => {
    const id = await platform.project("columns", { "index.html": "first" });
    await platform.deploy(id, Object.fromEntries(["index.html", "a.txt", "b.txt"].map((path) => [path, "more".repeat(5_000)])));
    const { page } = await open(t, `/dashboard/projects/${id}/versions`);
    await chooseArchive(page, "site.tgz", await packSite({ "petstore.json": "not JSON" }));
    await deployments(page).first().getByText("Failed", { exact: true }).waitFor();
    const edges = async (column: number, edge: "left" | "right") => {
      const cells = await deployments(page).locator(`[data-column="${column}"]`).all();
      const boxes = await Promise.all(cells.map(async (cell) => (await cell.boundingBox())!));
      return boxes.map(({ x, width }) => Math.round(edge === "left" ? x : x + width));
    };
    const alike = (values: number[], count: number) => assert.deepEqual([values.length, new Set(values).size], [count, 1]);
    alike(await edges(2, "right"), 2);
    alike(await edges(3, "left"), 3);
    alike(await edges(4, "left"), 2);
    await assertAccessibleOnPhone(page);
    for (const column of [2, 3, 4]) assert.deepEqual(new Set(await edges(column, "left")), new Set(await edges(3, "left")));
  });

  test("a refused name or slug shows its error at the field", async (t) => {
    await emptyProject("taken");
    const { page } = await open(t, "/dashboard/projects?new=true");
    await page.getByLabel("Name").fill("Taken");
    await page.getByRole("button", { name: "Create the project" }).click();
    await page.locator("input[name=slug][aria-invalid=true]").waitFor();
    await page.getByLabel("Web address").fill("Not A Slug");
    await page.getByRole("button", { name: "Create the project" }).click();
    await page.getByText("Must be lower-case letters, digits and hyphens").waitFor();
    await page.getByLabel("Name").fill("Two words");
    assert.equal(await page.getByLabel("Web address").inputValue(), "Not A Slug", "a slug that was typed is not overwritten");
    assert.deepEqual(await findings(page), []);
  });

  test("a project gets a new name and slug without overwriting another member's change", async (t) => {
    const id = await platform.project("before", { "index.html": "moved" });
    const { page } = await open(t, `/dashboard/projects/${id}/settings`);
    const name = page.getByRole("textbox", { name: "Name" });
    await name.fill("After");
    await page.getByLabel("Web address").fill("after");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "After" }).waitFor();
    assert.equal((await platform.http("after.sites.test", "/")).body, "moved");
    assert.equal((await platform.http("before.sites.test", "/")).status, 404);
    await page.getByText("this service does not use the standard web ports").waitFor();
    assert.equal(
      await page.getByRole("switch", { name: "Let browsers open your domains over secure connections only" }).isDisabled(),
      true,
    );

    await platform.service.ask("PATCH", `/projects/${id}`, { body: { name: "By somebody else" } });
    await name.fill("Mine");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("heading", { level: 1, name: "By somebody else" }).waitFor();
    assert.equal(await name.inputValue(), "By somebody else");
    assert.equal((await platform.service.ask<{ name: string }>("GET", `/projects/${id}`)).body.name, "By somebody else");
  });

  test("a project is deleted only after its name is typed, and is then no longer served", async (t) => {
    const id = await platform.project("gone", { "index.html": "gone" });
    await platform.addDomain(id, "www.gone.test");
    const { page } = await open(t, `/dashboard/projects/${id}/settings`);
    await page.getByRole("button", { name: "Delete the project" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The domains are removed: www.gone.test.").waitFor();
    const button = dialog.getByRole("button", { name: "Delete the project" });
    assert.equal(await button.isDisabled(), true);
    await dialog.getByLabel("Type gone to confirm").fill("gon");
    assert.equal(await button.isDisabled(), true);
    await dialog.getByLabel("Type gone to confirm").fill("gone");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
    assert.equal((await platform.http("gone.sites.test", "/")).status, 404);
    await page.goto(`${platform.service.address}/dashboard/projects/${id}`);
    await page.getByText("There is no such project.").waitFor();
  });

  test("names with markup are shown as text", async (t) => {
    const name = `<img src=x onerror="document.title='hit'"> & "quotes"`;
    const id = await emptyProject("hostile", name);
    const { page } = await open(t, `/dashboard/projects/${id}/versions`);
    await page.getByRole("heading", { level: 1, name }).waitFor();
    const folder = await folderOf(t, { "petstore.json": '{"<b>bold</b>": 1}', "<i>.html": "x" });
    await chooseFolder(page, folder);
    await page.getByRole("alert").getByText('unknown field "<b>bold</b>"').waitFor();
    assert.notEqual(await page.title(), "hit");
  });

  test("the list and the settings of projects: axe finds nothing, and they fit a phone", async (t) => {
    const { id: account, key } = await platform.service.newAccount();
    const id = await platform.project("axe", { "index.html": "x" }, { key });
    await platform.service.ask("POST", "/projects", { key, body: { name: "Empty", slug: "axe-empty" } });
    const { page } = await open(t, "/dashboard/projects", { account });
    await page.getByRole("table").waitFor();
    await assertAccessibleOnPhone(page, "the list");
    await page.setViewportSize({ width: 1280, height: 900 });
    await goWithin(page, `/dashboard/projects/${id}/settings`);
    await page.getByRole("button", { name: "Save" }).waitFor();
    await assertAccessibleOnPhone(page, "the settings");
  });
});

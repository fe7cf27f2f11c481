import assert from "node:assert/strict";
import { test } from "node:test";
import { stage } from "./support/browser.ts";
import { visit } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { made, newCategory, newPet } from "./support/shop.ts";
import { visitSignedIn } from "./support/signed-in.ts";
import { assertAskedAtOnce, assertLight, assertStill } from "./support/weight.ts";

const [browser, service] = await stage(startService);
const { id: project } = await made<{ id: number }>(service, "POST", "/projects", { name: "Rex", slug: "rex" });
const category = await newCategory(service, "Dogs");
const { id: petId } = await newPet(service, category.id);
const { id: orderId } = await made<{ id: number }>(service, "POST", "/store/orders", { petId });

const ofStore = [
  "animals",
  "animals/new",
  "animals/bin",
  `animals/${petId}`,
  "categories",
  "orders",
  "reservations",
  "inventory",
  "import",
];
const ofPublishing = ["projects", "projects/ID", "projects/ID/shop", "projects/ID/versions", "projects/ID/settings", "projects/ID/domains"];
const ofDashboard = ["", ...ofStore, ...ofPublishing, "usage", "keys", "webhooks", "activity", "account"];

const ofOrder = `/dashboard/v1/pets?limit=1&id=${petId}`;
const ofSummary = `/dashboard/v1/pets/summaries?id=${petId}`;
/** What can only be read once another answer has come. */
const later: Record<string, string[]> = {
  "": [`/dashboard/v1/projects/${project}/domains`, ofOrder, ofSummary, "/dashboard/v1/pets?sort=-id&limit=100"],
  animals: [`/dashboard/v1/store/inventory?limit=1&petId=${petId}`, ofSummary],
  orders: [ofOrder, ofSummary, `/dashboard/v1/orders/details?id=${orderId}`],
};

for (const part of ofDashboard) {
  const path = `/dashboard/${part.replace("ID", String(project))}`;

  test(`/${part} has little JavaScript, its title from the service, asks for all of it and for its data at once, and nothing moves`, async (t) => {
    const visited = await visitSignedIn(t, browser, service, path, { isFirstVisit: true });
    const { page, context } = visited;
    await assertLight(t, visited);
    await assertAskedAtOnce(visited, "/dashboard/v1/", later[part]);
    await assertStill(visited);

    const answer = await context.request.get(service.address + path);
    const [, title = "", lead = ""] = /<h1>(.*?)<\/h1><p>(.*?)<\/p>/.exec(await answer.text()) ?? [];
    const heading = await page.getByRole("heading", { level: 1 }).innerText();
    assert.equal(heading, part.startsWith("projects/") || part === `animals/${petId}` ? "Rex" : title);
    await page.getByText(part === "animals" ? "1 animal" : lead, { exact: true }).waitFor(); // the page says how many once it knows
  });
}

test("who is not signed in gets no title of a page that only members see", async () => {
  assert.doesNotMatch(await (await fetch(`${service.address}/dashboard/keys`)).text(), /<h1>/);
});

for (const part of ["", "/createPet", "/listPets", "/all", "/guides/errors"]) {
  test(`the reference${part} has little JavaScript, asks for all of it at once, and nothing moves`, async (t) => {
    const visited = await visit(t, browser, `${service.address}/reference${part}`, { isFirstVisit: true });
    if (part !== "/all") await assertLight(t, visited);
    await assertAskedAtOnce(visited, "/openapi.json");
    await assertStill(visited);
  });
}

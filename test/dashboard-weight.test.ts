import { test } from "node:test";
import { stage } from "./support/browser.ts";
import { visit } from "./support/pages.ts";
import { startService } from "./support/service.ts";
import { made } from "./support/shop.ts";
import { visitSignedIn } from "./support/signed-in.ts";
import { assertLight } from "./support/weight.ts";

const [browser, service] = await stage(startService);
const { id: project } = await made<{ id: number }>(service, "POST", "/projects", { name: "Rex", slug: "rex" });

const readsOfDashboard = ["/dashboard/v1/session", "/dashboard/v1/webhooks?limit=100"];
const ofStore = ["animals", "categories", "orders", "inventory", "import"];
const ofPublishing = ["projects", "projects/ID", "projects/ID/settings", "projects/ID/domains"];

for (const page of ["", ...ofStore, ...ofPublishing, "usage", "keys", "webhooks", "activity", "account"]) {
  test(`the first load of /${page} has little JavaScript`, async (t) => {
    await assertLight(t, await visitSignedIn(t, browser, service, `/dashboard/${page.replace("ID", String(project))}`), readsOfDashboard);
  });
}

for (const page of ["", "/createPet", "/guides/errors"]) {
  test(`the first load of the reference${page} has little JavaScript`, async (t) => {
    await assertLight(t, await visit(t, browser, `${service.address}/reference${page}`), ["/openapi.json"]);
  });
}

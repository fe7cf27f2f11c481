import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { MappingPlan } from "../src/importing/mapping-plan.ts";
import type { Mapping } from "../src/importing/mapping-schema.ts";
import { stage } from "./support/browser.ts";
import { runCommand } from "./support/commands.ts";
import { openDashboardShop } from "./support/dashboard-shop.ts";
import { temporaryFolder } from "./support/folder.ts";
import { give, textOf } from "./support/import-page.ts";
import { startService } from "./support/service.ts";

const [browser, service] = await stage(startService);
const corpus = fileURLToPath(new URL("fixtures/imports/", import.meta.url));

type Guessed = { mapping: Mapping; questions: string[] };
type Planned = { plan: MappingPlan; created: number; rejected: number };

test("the page guesses the mapping of each file of the corpus as the command does, counts the same rows, and starts only where the command would", async (t) => {
  const shop = await openDashboardShop(t, browser, service);
  const folder = temporaryFolder(t);
  const page = await shop.open("/import");
  const counted = async (name: string) => {
    const text = await page.locator("dl div").filter({ hasText: name }).locator("dd").innerText();
    return Number(text.replaceAll(/\D/g, ""));
  };
  for (const file of (await readdir(corpus)).toSorted()) {
    const path = join(corpus, file);
    const records = ["--rejects", join(folder, "rejects.csv"), "--state", join(folder, "state.json")];
    const guess = await runCommand(["import", path, "--write-mapping", join(folder, "mapping.json"), "--json"], {});
    const { mapping, questions } = JSON.parse(guess.out) as Guessed;
    await give(page, path);
    await page.getByRole("heading", { name: "Preview" }).waitFor();
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save these columns" }).click()]);
    const { source: _source, ...onPage } = JSON.parse(await textOf(saved)) as Mapping;
    assert.deepEqual(onPage, mapping, file);
    const button = page.getByRole("button", { name: /^Import [\d,]+ animals?$/ });
    await button.waitFor();
    assert.equal(await button.isDisabled(), questions.length > 0, `${file}: ${questions.join("; ")}`);
    if (questions.length > 0) continue;
    const { out } = await runCommand(["import", path, "--dry-run", "--json", ...records], {});
    const { plan, created, rejected } = JSON.parse(out) as Planned;
    assert.deepEqual(plan.mapping, mapping, file);
    assert.deepEqual([await counted("new animals"), await counted("rejected")], [created, rejected], file);
    if (plan.unused.length > 0) await page.getByText(`Columns that are not used: ${plan.unused.join(", ")}.`).waitFor();
  }
});

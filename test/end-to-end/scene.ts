import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Locator, Page } from "playwright-core";
import { startBrowser } from "../support/browser.ts";
import { startFirst, type FirstStart } from "../support/first-start.ts";
import { visit } from "../support/pages.ts";

/** The first day of a shop: the service, and its owner before a browser. */
export type Scene = {
  t: TestContext;
  service: FirstStart;
  page: Page;
  /** The dialog that is open, whichever it is. */
  dialog: Locator;
  /** Goes to a page of the dashboard by its navigation. */
  go: (page: string) => Promise<void>;
  /** Runs `petstore`, which must succeed, and gives what it printed. */
  petstore: (key: string, ...words: string[]) => Promise<string>;
  /** A part of the day, as a test of its own. @throws when it failed, since all further ones follow from it */
  step: (promise: string, part: () => Promise<void>) => Promise<void>;
};

export async function openScene(t: TestContext): Promise<Scene> {
  const browser = await startBrowser();
  t.after(() => browser.close());
  const service = await startFirst(t);
  const { page } = await visit(t, browser, service.link);
  return {
    t,
    service,
    page,
    dialog: page.getByRole("dialog"),
    go: (name) => page.getByRole("navigation", { name: "Dashboard" }).getByRole("link", { name, exact: true }).click(),
    petstore: async (key, ...words) => {
      const { code, out, error } = await service.petstore(key, ...words);
      assert.equal(code, 0, error);
      return out;
    },
    step: async (promise, part) => {
      let isKept = false;
      await t.test(promise, async () => {
        await part();
        isKept = true;
      });
      assert.ok(isKept, `the day ended where ${promise}`);
    },
  };
}

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { newMember } from "./dashboard.ts";
import type { Category, Pet } from "./models.ts";
import type { Reply, TestService } from "./service.ts";
import { visitSignedIn } from "./signed-in.ts";

/** An account of its own with what a test puts into it, and pages of the dashboard of somebody who is signed in there. */
export type DashboardShop = {
  id: number;
  key: string;
  ask<T = unknown>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply<T>>;
  category(name: string): Promise<number>;
  pet(name: string, categoryId: number, more?: object): Promise<number>;
  /** Moves animals into the bin, as a member. */
  bin(...petIds: number[]): Promise<void>;
  open(path: string, options?: object): Promise<Page>;
};

export async function openDashboardShop(t: TestContext, browser: Browser, service: TestService): Promise<DashboardShop> {
  const { id, key } = await service.newAccount();
  const shop: DashboardShop = {
    id,
    key,
    ask: (method, path, body, headers) => service.ask(method, path, { key, body, ...(headers && { headers }) }),
    category: async (name) => made(await shop.ask<Category>("POST", "/categories", { name })),
    pet: async (name, categoryId, more = {}) => made(await shop.ask<Pet>("POST", "/pets", { name, categoryId, ...more })),
    bin: async (...petIds) => {
      const member = await newMember(service, { account: id, email: `bin${petIds[0]}@shop${id}.example`, role: "member" });
      const { body } = await member.ask<{ results: { outcome: string }[] }>("POST", "/pets/changes", {
        changes: petIds.map((petId) => ({ id: petId, delete: true })),
      });
      assert.ok(body.results.every(({ outcome }) => outcome === "binned"));
    },
    open: async (path, options = {}) => (await visitSignedIn(t, browser, service, `/dashboard${path}`, { account: id, ...options })).page,
  };
  return shop;
}

/** Clicks an entry of the menu beside something. */
export async function choose(page: Page, of: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${of}`, exact: true }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

/** Picks an option of a select. */
export async function pick(page: Page, label: string, option: string | RegExp): Promise<void> {
  await page.getByRole("combobox", { name: label, exact: true }).click();
  await page.getByRole("option", { name: option, exact: typeof option === "string" }).click();
}

function made({ status, body }: Reply<{ id: number }>): number {
  assert.equal(status, 201);
  return body.id;
}

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import type { Platform } from "./platform.ts";
import { visitSignedIn } from "./signed-in.ts";

/** The domains page of a project in the dashboard. */
export const card = (page: Page, hostname: string): Locator => page.getByRole("article", { name: hostname });

export async function choose(page: Page, hostname: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${hostname}` }).click();
  await page.getByRole("menuitem", { name: action }).click();
}

export const openDomainsPage = (t: TestContext, browser: Browser, { service }: Platform, project: number, options = {}) =>
  visitSignedIn(t, browser, service, `/dashboard/projects/${project}/domains`, options);

/** Attaches a name with the right record and a certificate, by the service alone. */
export async function attach(platform: Platform, project: number, hostname: string): Promise<void> {
  platform.dns.set(hostname, "CNAME", ["sites.test"]);
  assert.equal((await platform.addDomain(project, hostname)).status, 201);
  await platform.service.publishing.idle();
  assert.equal((await platform.domain(project, hostname)).certificate.status, "issued");
}

/** Adds a name by the page's form. */
export async function add(page: Page, hostname: string): Promise<void> {
  await page.getByRole("button", { name: "Add domain" }).first().click();
  await page.getByLabel("Domain name").fill(hostname);
  await page.getByRole("dialog").getByRole("button", { name: "Add domain" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

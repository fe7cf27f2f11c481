import type { TestContext } from "node:test";
import type { Browser as Chromium } from "playwright-core";
import type { PageOptions } from "./contexts.ts";
import { newMember } from "./dashboard.ts";
import { visit, type Visit } from "./pages.ts";
import type { TestService } from "./service.ts";

export const password = "a good long password";

type Person = { account?: number; role?: "owner" | "member"; email?: string; hosts?: string[] };
let people = 0;

/** Somebody new who is signed in opens a page of the dashboard, with a cookie made by the sign-in itself. */
export async function visitSignedIn(
  t: TestContext,
  browser: Chromium,
  service: TestService,
  path: string,
  { account = service.accountId, role = "owner", email, hosts, ...options }: Person & PageOptions = {},
): Promise<Visit & { email: string }> {
  people += 1;
  const address = email ?? `person${people}@shop.example`;
  const { cookie } = await newMember(service, { account, role, email: address, password });
  const [name = "", value = ""] = cookie.split("=", 2);
  const { hostname } = new URL(service.address);
  const session = { name, value, domain: hostname, path: "/", expires: -1, httpOnly: true, secure: false, sameSite: "Lax" as const };
  const visited = await visit(t, browser, service.address + path, { ...options, storageState: { cookies: [session], origins: [] } }, hosts);
  await visited.page.getByRole("heading", { level: 1 }).waitFor();
  return { ...visited, email: address };
}

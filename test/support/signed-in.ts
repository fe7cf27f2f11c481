import type { TestContext } from "node:test";
import type { Browser as Chromium, Cookie } from "playwright-core";
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
  const storageState = { cookies: [cookieOf(service.address, cookie)], origins: [] };
  const visited = await visit(t, browser, service.address + path, { ...options, storageState }, hosts);
  await visited.page.getByRole("heading", { level: 1 }).waitFor();
  return { ...visited, email: address };
}

/** The cookie of a session, as a page of this origin has it. */
export function cookieOf(origin: string, cookie: string): Cookie {
  const [name = "", value = ""] = cookie.split("=", 2);
  return { name, value, domain: new URL(origin).hostname, path: "/", expires: -1, httpOnly: true, secure: false, sameSite: "Lax" };
}

import assert from "node:assert/strict";
import { ask, type Reply, type TestService } from "./service.ts";

export type Invited = { member: { id: number; email: string | null; role: string }; link: string; expiresAt: string };
export type Standing = { member: Invited["member"] & { hasPassword: boolean }; account: { id: number; name: string; plan: string } };

export type Browser = {
  /** Sends a request below `/dashboard/v1` as a page of the dashboard would, with the cookie it has. */
  ask<T = unknown>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply<T>>;
  /** The cookie as it is sent, empty where there is none. */
  cookie: string;
};

/** A browser with a cookie jar of its own, on a page of `origin`. */
export function openBrowser(service: TestService, origin: string = service.address): Browser {
  /** Cookies beside that of the session, such as a sign-in's that waits for its second step. */
  const others = new Map<string, string>();
  const browser: Browser = {
    cookie: "",
    async ask<T>(method: string, path: string, body?: unknown, headers?: Record<string, string>) {
      const cookie = [browser.cookie, ...others.values()].filter((pair) => pair !== "").join("; ");
      const { host } = new URL(origin);
      const sent = { host, origin, "sec-fetch-site": "same-origin", ...(cookie && { cookie }), ...headers };
      const reply = await ask<T>(`${service.address}/dashboard/v1${path}`, method, { headers: sent, body });
      for (const line of reply.headers.getSetCookie()) {
        const pair = line.includes("Max-Age=0") ? "" : (line.split(";")[0] ?? "");
        const [name = ""] = line.split("=");
        if (name.endsWith("petstore-session")) browser.cookie = pair;
        else others.set(name, pair);
      }
      return reply;
    },
  };
  return browser;
}

/** The token of a sign-in link. */
export function tokenIn(link: string): string {
  return /\/sign-in#token=([\w-]{43})$/.exec(link)?.[1] ?? assert.fail(`${link} is no sign-in link`);
}

/** A member of an account who came in by a link and has set a password. */
export async function newMember(
  service: TestService,
  { account, email, role, password }: { account: number; email: string; role: string; password?: string },
  origin?: string,
): Promise<Browser> {
  const { link } = await service.administration["members.invite"]({ account, email, role });
  const browser = openBrowser(service, origin);
  assert.equal((await browser.ask("POST", "/sign-in/link", { token: tokenIn(link) })).status, 200);
  if (password) assert.equal((await browser.ask("PUT", "/password", { password })).status, 200);
  return browser;
}

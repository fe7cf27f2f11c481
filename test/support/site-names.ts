import type { SiteName } from "../../src/publishing/domains/redirects.ts";
import type { Redirect } from "../../src/publishing/domains/serving.ts";

/** A name that is verified and has its certificate. */
export const name = (hostname: string, redirect: Redirect | null = null, primary = false): SiteName => ({
  hostname,
  status: "verified",
  ready: true,
  primary,
  becomesPrimary: false,
  redirect,
});
export const pending = (hostname: string, redirect: Redirect | null = null, primary = false): SiteName => ({
  ...name(hostname, redirect, primary),
  status: "pending",
  ready: false,
});
export const to = (hostname: string, status: Redirect["status"] = 301): Redirect => ({ to: hostname, status });

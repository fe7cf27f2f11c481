import assert from "node:assert/strict";
import { codeOf, stepAt } from "../../src/callers/members/factors.ts";
import type { Browser } from "./dashboard.ts";

/** What an authenticator app shows for a typed secret at `now`, `steps` times 30 seconds later. */
export function codeAt(typed: string, now: number, steps = 0): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...typed].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const bytes = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  return codeOf(bytes.toString("base64url"), stepAt(now) + steps);
}

/** Sets up an authenticator app in a session that was confirmed. */
export async function setUpApp(browser: Browser, now: number): Promise<{ secret: string; recoveryCodes: string[] }> {
  const { status, body } = await browser.ask<{ secret: string }>("POST", "/factors/app");
  assert.equal(status, 201);
  const { secret } = body;
  const enabled = await browser.ask<{ recoveryCodes: string[] }>("POST", "/factors/app/enable", { code: codeAt(secret, now) });
  assert.equal(enabled.status, 200);
  return { secret, recoveryCodes: enabled.body.recoveryCodes };
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { deviceOf } from "./device.ts";

test("a session shows its browser and operating system", () => {
  const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
  for (const [userAgent, browser, system] of [
    [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/142.0.0.0 Safari/537.36`, "Chrome", "Linux"],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`, "Edge", "Windows"],
    [
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/605.1.15",
      "Safari",
      "macOS",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0 Mobile Safari/604.1",
      "Chrome",
      "iOS",
    ],
    [`Mozilla/5.0 (Linux; Android 16; Pixel 9) ${webkit} Chrome/142.0.0.0 Mobile Safari/537.36`, "Chrome", "Android"],
    ["Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox", "Linux"],
    ["<script>alert(1)</script>", undefined, undefined],
    ["", undefined, undefined],
  ] as const) {
    assert.deepEqual(deviceOf(userAgent), { browser, system }, userAgent);
  }
});

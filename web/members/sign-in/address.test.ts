import assert from "node:assert/strict";
import { test } from "node:test";
import { destinationOf } from "./address.ts";

const origin = "https://shop.example";

test("a page of the dashboard is kept, with its search", () => {
  for (const to of ["/dashboard", "/dashboard/keys", "/dashboard/animals?status=sold&q=R%26B#list"]) {
    assert.equal(destinationOf(to, origin), to);
  }
});

test("a link to the sign-in page leads only to the dashboard", () => {
  const elsewhere = [
    "https://evil.example/dashboard",
    "//evil.example/dashboard",
    "\\\\evil.example/dashboard",
    "/\\evil.example/dashboard",
    "javascript:alert(1)//dashboard",
    "/dashboards",
    "/dashboard/../reference",
    "/dashboard/%2e%2e/reference",
    "/dashboard/v1/session",
    "/dashboard/v1",
    "/sign-in",
    "",
    "https://",
    7,
    undefined,
    { href: "/dashboard" },
  ];
  for (const to of elsewhere) assert.equal(destinationOf(to, origin), undefined, JSON.stringify(to));
});

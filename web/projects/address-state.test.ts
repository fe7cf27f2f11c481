import assert from "node:assert/strict";
import { test } from "node:test";
import { addressStateOf, sendsHsts } from "./address-state.ts";

const at = (url: string, primary: string | null, plan = "pro") =>
  addressStateOf({ url, slug: "rex", domains: { primary, redirects: [] } }, plan);

test("a primary name is in effect while it is the project's address, and waits until then", () => {
  assert.equal(at("https://www.shop.example", "www.shop.example"), "inEffect");
  assert.equal(at("http://rex.sites.example:8081", "www.shop.example"), "waiting");
  assert.equal(at("http://rex.sites.example:8081", null), "none");
});

test("while a new primary name waits, the earlier one stays in effect", () => {
  assert.equal(at("https://old.shop.example", "www.shop.example"), "inEffect");
});

test("a plan without custom domains has no primary name in effect", () => {
  assert.equal(at("http://rex.sites.example", "www.shop.example", "free"), "noDomains");
});

test("HSTS is sent only at the standard ports", () => {
  assert.equal(sendsHsts("https://www.shop.example"), true);
  assert.equal(sendsHsts("https://www.shop.example:8443"), false);
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sendRaw } from "./support/raw.ts";
import { startService, type TestService } from "./support/service.ts";

let local: TestService;
let published: TestService;
before(async () => {
  local = await startService();
  published = await startService({ env: { PUBLIC_URL: "https://pets.example.com" } });
});
after(() => Promise.all([local.close(), published.close()]));

/** One request with these Host headers. */
async function statusOf(service: TestService, target: string, ...hosts: string[]): Promise<number> {
  const lines = [`GET ${target} HTTP/1.1`, ...hosts.map((host) => `Host: ${host}`), `X-API-Key: ${service.key}`, "", ""];
  const { status, headers, body } = await sendRaw(service.address, lines.join("\r\n"));
  if (status === 400) assert.equal((JSON.parse(body) as { code: string }).code, "invalid_request", target);
  assert.ok(headers["x-request-id"], target);
  return status;
}

const routes = ["/healthz", "/readyz", "/metrics", "/openapi.json", "/", "/nowhere", "/dashboard/v1/session", "/v1/pets"];

test("every route requires exactly one Host header, on every version of HTTP", async () => {
  for (const target of routes) {
    assert.equal(await statusOf(local, target), 400, target);
    assert.equal(await statusOf(local, target, "localhost", "localhost"), 400, target);
    assert.equal((await sendRaw(local.address, `GET ${target} HTTP/1.0\r\n\r\n`)).status, target === "/v1/pets" ? 401 : 400, target);
  }
  const preflight = "OPTIONS /v1/pets HTTP/1.1\r\nOrigin: https://a.example\r\nAccess-Control-Request-Method: GET\r\n\r\n";
  assert.equal((await sendRaw(local.address, preflight)).status, 400);
});

test("probes, the description and the API accept any host", async () => {
  for (const target of ["/healthz", "/readyz", "/openapi.json", "/v1/pets"])
    for (const host of ["evil.example", "10.0.0.1:8080", "localhost", ""]) assert.equal(await statusOf(published, target, host), 200, host);
});

const hosts: Record<"metrics" | "dashboard", { taken: string[]; refused: string[] }> = {
  metrics: {
    taken: ["127.0.0.1:8080", "[::1]:8080", "10.0.0.1", "localhost", "LOCALHOST:1", "pets.example.com", "pets.example.com.:443"],
    refused: ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "a.localhost", "", "a b", "localhost@evil.example", "["],
  },
  dashboard: {
    taken: ["pets.example.com", "PETS.example.com:443"],
    refused: ["evil.example", "localhost", "127.0.0.1", "a.pets.example.com", "pets.example.com.evil.example", "", "pets.example.com/"],
  },
};
const targets = { metrics: ["/metrics"], dashboard: ["/", "/sign-in", "/favicon.svg", "/dashboard/v1/session"] };

for (const place of ["metrics", "dashboard"] as const) {
  test(`${place}: a host that another name may lead to is refused`, async () => {
    for (const target of targets[place]) {
      for (const host of hosts[place].taken) assert.notEqual(await statusOf(published, target, host), 400, host);
      for (const host of hosts[place].refused) assert.equal(await statusOf(published, target, host), 400, host);
    }
  });
}

test("if PUBLIC_URL is this machine, pages accept any of its names except those of published projects", async () => {
  for (const host of ["localhost", "127.0.0.1", "127.9.9.9:1", "[::1]:8080", "shop.localhost"])
    assert.notEqual(await statusOf(local, "/dashboard/v1/session", host), 400, host);
  for (const host of ["petstore.localhost", "rex.petstore.localhost:8080", "evil.example", "10.0.0.1", "0.0.0.0"])
    assert.equal(await statusOf(local, "/dashboard/v1/session", host), 400, host);
});

test("for a URL in absolute form, the host in the URL counts", async () => {
  assert.equal(await statusOf(published, "http://evil.example/metrics", "localhost"), 400);
  assert.equal(await statusOf(published, "http://localhost:8080/metrics", "evil.example"), 200);
  assert.equal(await statusOf(published, "http://user@localhost/metrics", "localhost"), 400);
});

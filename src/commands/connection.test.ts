import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Problem } from "../platform/problem.ts";
import { connect, connectionOf } from "./connection.ts";

test("options come before the environment, and without a key nothing is called", () => {
  const environment = { url: "http://localhost:8080", key: " psk_environment\n" };
  assert.deepEqual(connectionOf({}, environment), { url: environment.url, key: "psk_environment" });
  assert.deepEqual(connectionOf({ url: "https://pets.example", key: "psk_option" }, environment), {
    url: "https://pets.example",
    key: "psk_option",
  });
  for (const key of ["", "  ", "two words", "clé"]) assert.throws(() => connectionOf({ key }, environment), Problem);
});

test("a command that waits for the service says why and how long", async (t) => {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.writeHead(asked === 1 ? 503 : 200, { "content-type": "application/json" }).end("[]");
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lines: string[] = [];
  const client = await connect({ url, key: "psk_any" }, (line) => lines.push(line));
  assert.deepEqual((await client.GET("/projects")).data, []);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", new RegExp(`^Waiting 0\\.[1-3] s: ${url} is busy \\(503\\)\\.$`));
});

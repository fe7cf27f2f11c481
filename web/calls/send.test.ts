import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { Refusal } from "./refusal.ts";
import { jsonOf, onSessionLost, send } from "./send.ts";

/** Starts a server that gives this response, and returns the URL of a call to it. */
async function answering(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/dashboard/v1/pets`;
}

const refusalOf = (call: Promise<unknown>): Promise<Refusal> =>
  call.then(
    () => assert.fail("the call succeeded"),
    (error: unknown) => (error instanceof Refusal ? error : assert.fail(String(error))),
  );

test("a response that breaks off counts as unreachable", async (t) => {
  const url = await answering(t, (_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write('[{"id":', () => response.destroy());
  });
  const { code, status } = await refusalOf(send(new Request(url)));
  assert.deepEqual([code, status], ["unreachable", 0]);
});

test("a proxy's page is not taken for the service's response", async (t) => {
  const url = await answering(t, (_request, response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>"));
  assert.equal((await refusalOf(send(new Request(url)))).code, "not_the_service");
});

test("a refusal keeps its code, details, request id and delay, and a 401 reports that nobody is signed in", async (t) => {
  const url = await answering(t, (_request, response) => {
    response.writeHead(401, { "content-type": "application/json", "x-request-id": "r1", "retry-after": "7" });
    response.end(
      JSON.stringify({ code: "unauthorized", message: "Sign in.", status: 401, details: [{ path: "body.name", message: "is long" }] }),
    );
  });
  let reports = 0;
  t.after(onSessionLost(() => (reports += 1)));
  const { code, message, status, details, requestId, retryAfterSeconds } = await refusalOf(send(new Request(url)));
  assert.deepEqual([code, message, status, requestId, retryAfterSeconds], ["unauthorized", "Sign in.", 401, "r1", 7]);
  assert.deepEqual(details, [{ path: "body.name", message: "is long" }]);
  assert.equal(reports, 1);
});

test("a call that is aborted fails with the caller's reason", async (t) => {
  const url = await answering(t, () => {});
  const controller = new AbortController();
  const sent = send(new Request(url, { signal: controller.signal }));
  controller.abort(new Error("left the page"));
  await assert.rejects(sent, /left the page/);
});

test("an empty number field is sent as a value that the service refuses, never omitted", () => {
  assert.equal(jsonOf({ petId: 1, quantity: Number.NaN, shipDate: null }), '{"petId":1,"quantity":"","shipDate":null}');
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { RedisConnector } from "./redis.connector.ts";

test("a socket to Redis that errs a second time while it closes ends no process, and the first error is the reason", async () => {
  const connector = new RedisConnector({ host: "127.0.0.1", port: "1" });
  const stream = await connector.connect();
  await new Promise((resolve) => stream.once("close", resolve));
  stream.emit("error", new Error("tlsv1 alert decode error"));
  assert.equal((connector.firstError as NodeJS.ErrnoException).code, "ECONNREFUSED");
});

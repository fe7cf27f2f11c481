import assert from "node:assert/strict";
import { test } from "node:test";
import { causeOf } from "./causes.ts";

test("the error that ended a scope is separate from the errors of closing its parts, which keep their order", async () => {
  const start = async (): Promise<void> => {
    await using parts = new AsyncDisposableStack();
    for (const name of ["last", "first"]) {
      parts.defer(() => {
        throw new Error(`${name} closing`);
      });
    }
    throw new Error("the port is taken");
  };
  const { cause, closing } = causeOf(await start().catch((error: unknown) => error));
  assert.equal((cause as Error).message, "the port is taken");
  assert.deepEqual(
    closing.map((error) => (error as Error).message),
    ["first closing", "last closing"],
  );
  const plain = new Error("plain");
  assert.deepEqual(causeOf(plain), { cause: plain, closing: [] });
});

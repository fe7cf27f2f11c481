import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Answer } from "../src/platform/http/operation.ts";
import { orderRoutes } from "../src/store/orders/orders.routes.ts";
import { petRoutes } from "../src/store/pets/pets.routes.ts";
import { startService, type TestService } from "./support/service.ts";
import { newCategory, newPet } from "./support/shop.ts";

let shop: TestService;
before(async () => {
  shop = await startService();
  const { id } = await newCategory(shop, "Dogs");
  await newPet(shop, id);
});
after(() => shop.close());

/** Lets the handler of an operation answer with what `leak` makes of its body, until `run` has ended. */
async function leaking(operationId: string, leak: (body: unknown) => unknown, run: () => Promise<void>): Promise<void> {
  const operation = [...petRoutes, ...orderRoutes].find((each) => each.operationId === operationId) as unknown as {
    read: (...args: unknown[]) => Answer | Promise<Answer>;
  };
  const { read } = operation;
  operation.read = async (...args) => {
    const { text, body, ...answer } = await read.apply(operation, args);
    return { ...answer, body: leak(text === undefined ? body : JSON.parse(text)) };
  };
  try {
    await run();
  } finally {
    operation.read = read;
  }
}

const withField = (object: unknown): object => ({ ...(object as object), account_id: 1 });

test("an answer that the description does not allow fails the test that asked for it: a field beyond it, in an object and in a list", async () => {
  await shop.ask("GET", "/pets?id=1");
  await leaking("getPet", withField, async () => {
    await assert.rejects(shop.ask("GET", "/pets/1"), /getPet 200: body must NOT have additional properties/);
  });
  await leaking(
    "listPets",
    (pets) => (pets as unknown[]).map(withField),
    async () => {
      await assert.rejects(shop.ask("GET", "/pets?id=1"), /listPets 200: body\/0 must NOT have additional properties/);
    },
  );
});

test("the same for a field that is missing, and for one of another type", async () => {
  await leaking(
    "getPet",
    () => ({ id: 1 }),
    () => assert.rejects(shop.ask("GET", "/pets/1"), /must have required property 'name'/),
  );
  await leaking(
    "getPet",
    (pet) => ({ ...(pet as object), id: "1" }),
    () => assert.rejects(shop.ask("GET", "/pets/1"), /body\/id must be integer/),
  );
});

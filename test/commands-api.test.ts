import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { declaredOperations } from "../src/commands/operations.gen.ts";
import { petstore, runCommand } from "./support/commands.ts";
import { temporaryFolder } from "./support/folder.ts";
import { startService, type TestService } from "./support/service.ts";

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

const run = (...words: string[]) => petstore(service, ...words);
async function json<T = Record<string, unknown>>(...words: string[]): Promise<T> {
  const { code, out, error } = await run(...words, "--json");
  assert.equal(code, 0, error);
  return JSON.parse(out) as T;
}

suite("petstore api", () => {
  test("calls any operation; a field has the type that the operation declares", async () => {
    const category = JSON.parse((await run("api", "POST", "/categories", "-f", "name=2026")).out) as { id: number; name: string };
    assert.equal(category.name, "2026", "a name stays text");
    const made = await run("api", "post", "/v1/pets", "-f", "name=Rex", "-f", `categoryId=${category.id}`);
    const pet = JSON.parse(made.out) as { id: number };
    assert.deepEqual(made, {
      code: 0,
      out: `${JSON.stringify({ id: pet.id, name: "Rex", categoryId: category.id, status: "available" })}\n`,
      error: "",
    });
    const priced = await json(
      "api",
      "PUT",
      `pets/${pet.id}/profile`,
      "-F",
      "price[amount]=900",
      "-f",
      "price[currency]=EUR",
      "-f",
      "description=Kind",
    );
    assert.partialDeepStrictEqual(priced, { status: 201, body: { description: "Kind", price: { amount: 900, currency: "EUR" } } });
    const found = await run("api", "GET", "/pets?status=available", "-f", "q=rex");
    assert.equal((JSON.parse(found.out) as unknown[]).length, 1);
    const gone = await run("api", "DELETE", `${service.address}/v1/pets/${pet.id}`, "--include");
    assert.match(gone.out, /^HTTP 204\n(?:[a-z-]+: .*\n)+\n$/);
  });

  test("sends a file or standard input as the body, and prints a list whole with --paginate", async (t) => {
    const { id: categoryId } = (await json<{ body: { id: number } }>("api", "POST", "/categories", "-f", "name=Many")).body;
    const names = Array.from({ length: 250 }, (_, i) => ({ name: `Pet ${i}`, categoryId }));
    const file = join(temporaryFolder(t), "pets.json");
    writeFileSync(file, JSON.stringify(names));
    assert.equal((await run("api", "POST", "/pets/batch", "--input", file)).code, 0);
    const env = { DATA_DIR: service.dataDir, PETSTORE_URL: service.address, PETSTORE_KEY: service.key };
    const one = await runCommand(["api", "POST", "/pets", "--input", "-"], env, JSON.stringify({ name: "Last", categoryId }));
    assert.equal(one.code, 0, one.error);
    const all = JSON.parse((await run("api", "GET", "/pets", "-f", `categoryId=${categoryId}`, "--paginate")).out) as { name: string }[];
    assert.deepEqual([all.length, all.at(-1)?.name], [251, "Last"]);
  });

  test("refuses what it cannot send, and reports a refusal of the service with its exit code", async () => {
    for (const words of [
      ["FETCH", "/pets"],
      ["GET", "https://elsewhere.example/v1/pets"],
      ["GET", "/pets", "-f", "status"],
      ["POST", "/pets", "-f", "a=1", "-f", "a[b]=2"],
      ["POST", "/pets", "--paginate"],
      ["GET", "/pets", "-H", "Authorization: Bearer other"],
      ["GET", "/events/stream"],
      ["POST", "/pets", "--input", "/absent"],
    ])
      assert.equal((await run("api", ...words)).code, 2, words.join(" "));
    assert.match(
      (await run("api", "POST", "/pets", "-f", "name=Rex", "-f", "categoryId=1", "-f", "__proto__[x]=1")).error,
      /__proto__ is not a known field/,
    );
    const refused = await run("api", "GET", "/categories/999");
    assert.deepEqual([refused.code, refused.out], [3, ""]);
    const odd = await run("api", "POST", "/pets", "-f", "name=Rex", "-f", "categoryId=one");
    assert.deepEqual([odd.code, /categoryId/.test(odd.error)], [2, true], odd.error);
  });
});

suite("petstore pets, categories, orders, inventory and imports", () => {
  test("list, get, create, update and delete, as tables for people and objects for programs", async () => {
    const { id: categoryId } = await json<{ id: number }>("categories", "create", "--name", "Cats");
    const created = await run("pets", "create", "--name", "Tom", "--category-id", String(categoryId));
    const [, id = ""] = /^ID +NAME +CATEGORY ID +STATUS\n(\d+) +Tom +\d+ +available\n$/.exec(created.out) ?? [];
    assert.notEqual(id, "", created.out);
    assert.deepEqual(await json("inventory", "replace", id, "--quantity", "2"), { petId: Number(id), quantity: 2, status: "available" });
    const order = await json<{ id: number }>("orders", "create", "--pet-id", id);
    assert.partialDeepStrictEqual(await json("orders", "update", String(order.id), "--complete", "true"), { complete: true });
    assert.partialDeepStrictEqual(await json("inventory", "get", id), { quantity: 1 });
    assert.partialDeepStrictEqual(await json("pets", "get", id), { name: "Tom" }, "not by the deprecated operation");
    assert.partialDeepStrictEqual(await json("pets", "update", id, "--name", "Thomas"), { name: "Thomas" });
    const { pets } = await json<{ pets: { name: string }[] }>("pets", "list", "--category-id", String(categoryId), "--status", "available");
    assert.deepEqual(
      pets.map(({ name }) => name),
      ["Thomas"],
    );
    await json("pets", "create", "--name", "Kit", "--category-id", String(categoryId));
    const first = await run("pets", "list", "--category-id", String(categoryId), "--limit", "1");
    assert.deepEqual([first.out.trimEnd().split("\n").length, first.error], [2, "There are more than 1: --limit prints more.\n"]);
    const [kit] = (await json<{ pets: { id: number }[] }>("pets", "list", "--q", "kit")).pets;
    assert.deepEqual(await json("pets", "delete", String(kit?.id)), { deleted: `/pets/${kit?.id}` });
    for (const [words, code] of [
      [["pets", "get", "9999"], 3],
      [["pets", "create", "--name", "Rex"], 2],
      [["pets", "list", "--status", "lost"], 2],
      [["pets", "list", "--limit", "0"], 2],
      [["pets", "delete", "../categories"], 2],
    ] as const)
      assert.equal((await run(...words)).code, code, words.join(" "));
  });

  test("have a command for each operation of the API on one resource", async () => {
    const { out } = await run("--help");
    const nouns = { Pet: "pets", Category: "categories", Order: "orders", InventoryItem: "inventory", Import: "imports" };
    for (const { id } of declaredOperations)
      for (const [noun, word] of Object.entries(nouns))
        if (id.endsWith(noun)) assert.ok(out.includes(`  ${word} ${id.slice(0, -noun.length)} `), id);
  });
});

test("a typing error in a command or option is answered with what was meant", async () => {
  for (const [words, meant] of [
    [["pet", "list"], "pets list"],
    [["domians", "list"], "domains list"],
    [["pets", "lst"], "pets list"],
    [["exprot"], "export"],
    [["pets", "list", "--stattus", "sold"], "--status"],
  ] as const) {
    const { code, error } = await run(...words);
    assert.deepEqual([code, error.split("\n")[0]?.endsWith(`did you mean ${meant}?`)], [2, true], error);
  }
  assert.doesNotMatch((await run("xyzzy")).error, /did you mean/);
});

test("--key replaces the key of the profile, not its address", async (t) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers.authorization ?? "");
    response.writeHead(200, { "content-type": "application/json" }).end(request.url === "/v1/pets?limit=100" ? "[]" : "{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const env = { HOME: temporaryFolder(t) };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  assert.equal((await runCommand(["login", "--url", service.address, "--key", "-"], env, service.key)).code, 0);
  assert.equal((await runCommand(["login", "--url", url, "--profile", "other", "--key", "-"], env, "psk_other")).code, 0);
  assert.equal((await runCommand(["api", "GET", "/pets?limit=100", "--key", "psk_given"], env)).code, 0);
  assert.equal(asked.at(-1), "Bearer psk_given", "the service of the last login");
});

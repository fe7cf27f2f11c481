import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { operationsIn, type Document } from "./support/description.ts";
import { generateClients, type GeneratedClients } from "./support/generated-clients.ts";
import { ask, startService, type TestService } from "./support/service.ts";
import { packSite } from "./support/sites.ts";

let shop: TestService;
let operationIds: string[];
let clients: GeneratedClients;
before(async () => {
  shop = await startService();
  const description = (await ask<Document>(`${shop.address}/openapi.json`, "GET")).body;
  operationIds = operationsIn(description).map(({ operationId }) => operationId);
  clients = await generateClients(description);
});
after(async () => {
  await clients.remove();
  await shop.close();
});

type Answers = { pet: { id: number } } & Record<string, unknown>;
type FirstCalls = { firstCalls: (baseUrl: string, key: string, slug: string, archive: Blob) => Promise<Answers> };
const load = (file: string): Promise<object> => import(pathToFileURL(join(clients.folder, file)).href) as Promise<object>;

/** Writes a file that compiles if these are the operations of the client that is types alone. */
async function writeOperations(names: string[]): Promise<string> {
  const path = join(clients.folder, "operations.ts");
  const members = names.map((name) => `${name}: true`).join(", ");
  await writeFile(
    path,
    `import type { operations } from "./paths.ts";\nexport const all: Record<keyof operations, true> = { ${members} };\n`,
  );
  return path;
}

test("both clients compile in strict mode with the calls of a user, and have all operations, and no others", async (t) => {
  assert.deepEqual(Object.keys(await load("hey-api/sdk.gen.ts")).toSorted(), operationIds.toSorted());
  const path = await writeOperations(operationIds);
  t.after(() => rm(path));
  assert.equal(await clients.compile(), "");
});

test("the compiler finds a call that the description does not allow, and an operation that is missing", async (t) => {
  const calls = await readFile(join(clients.folder, "openapi-typescript.ts"), "utf8");
  const mistaken = join(clients.folder, "mistaken.ts");
  const missing = await writeOperations(operationIds.slice(1));
  t.after(() => Promise.all([rm(mistaken), rm(missing)]));
  await writeFile(mistaken, calls.replace("body: { quantity: 1 }", "body: { count: 1 }"));
  const said = await clients.compile();
  assert.match(said, /mistaken\.ts.*'count' does not exist/);
  assert.match(said, new RegExp(`'${operationIds[0]}' is missing`));
});

for (const [file, slug] of [
  ["openapi-typescript.ts", "happy-paws"],
  ["hey-api.ts", "lucky-tails"],
] as const) {
  test(`the first calls of a user get the right answers: ${file}`, async () => {
    const { key } = await shop.newAccount();
    const { firstCalls } = (await load(file)) as FirstCalls;
    const archive = new Blob([(await packSite({ "index.html": "<p>Rex</p>" })) as Uint8Array<ArrayBuffer>]);
    const answers = await firstCalls(`${shop.address}/v1`, key, slug, archive);
    const { id } = answers.pet;
    assert.deepEqual(answers, {
      pet: { id, name: "Rex", categoryId: (answers.pet as { categoryId?: number }).categoryId, status: "available" },
      stock: { petId: id, quantity: 1, status: "available" },
      order: { id: (answers["order"] as { id?: number }).id, petId: id, quantity: 1, complete: false },
      refusal: `409 Pet ${id} has 0 free units, which is too few.`,
      adjusted: { petId: id, quantity: 2, status: "available" },
      names: ["Rex available"],
      wrongPath: "body.name",
      deployment: "queued",
    });
  });
}

import assert from "node:assert/strict";
import { before, after, suite, test } from "node:test";
import sql from "sql-template-tag";
import { resolved } from "../client/references.ts";
import description from "../openapi.json" with { type: "json" };
import { foldingVersion } from "../src/platform/folding.ts";
import { foldNames, namesAlike } from "../src/store/pets/folded-names.store.ts";
import { startService, type TestService } from "./support/service.ts";

type Category = { id: number; name: string };
type Pet = { id: number; name: string };

let service: TestService;
before(async () => {
  service = await startService();
});
after(() => service.close());

const names = async (query: string) => (await service.ask<Pet[]>("GET", `/pets?${query}`)).body.map(({ name }) => name);
const earlier = (name: string) => name.normalize("NFKC").toLowerCase();

/** Stores the keys of an earlier release. */
async function storeEarlierKeys(): Promise<void> {
  const { db } = service;
  const pets = await db.query<Pet>(sql`SELECT id, name FROM pets`);
  for (const { id, name } of pets) await db.write((tx) => tx.query(sql`UPDATE pets SET name_key = ${earlier(name)} WHERE id = ${id}`));
  await db.write((tx) => tx.query(sql`UPDATE folded_names SET folding = ''`));
}

suite("names of pets", () => {
  test("are found by what they fold to: case, sigma, ß, invisible characters and typographic marks make no difference", async () => {
    const { id: categoryId } = (await service.ask<Category>("POST", "/categories", { body: { name: "Folding" } })).body;
    const made = [
      "ΟΔΥΣΣΕΥΣ",
      "Groß & Klein",
      "Shaun O’Brien",
      "“Rex” – the dog",
      "Fi\u00addo",
      "Maile Ka\u02BBiulani",
      "Sinead O\u02BCNeill",
    ];
    for (const name of made) assert.equal((await service.ask("POST", "/pets", { body: { name, categoryId } })).status, 201);
    const found = async () => [
      await names("q=οδυσσευς"),
      await names("q=ΟΔΥΣ"),
      await names("q=GROSS"),
      await names("q=brien"),
      await names(`q=${encodeURIComponent("o'brien")}`),
      await names("q=rex"),
      await names("q=fido"),
      await names("q=iulani"),
      await names(`q=${encodeURIComponent("ka'iulani")}`),
      await names("q=neill"),
      await names(`q=${encodeURIComponent("o’neill")}`),
    ];
    const expected = [
      [made[0]],
      [made[0]],
      [made[1]],
      [made[2]],
      [made[2]],
      [made[3]],
      [made[4]],
      [made[5]],
      [made[5]],
      [made[6]],
      [made[6]],
    ];
    assert.deepEqual(await found(), expected);

    await storeEarlierKeys();
    assert.deepEqual(await names("q=brien"), [], "not by the keys of an earlier release");
    await foldNames(service.db);
    assert.deepEqual(await found(), expected, "the keys of stored names are made anew");
    await foldNames(service.db);
    const [row] = await service.db.query<{ folding: string }>(sql`SELECT folding FROM folded_names`);
    assert.equal(row?.folding, foldingVersion);
  });

  test("are folded again as long as a node of an earlier release writes keys of its own", async () => {
    const { db } = service;
    const farAway = Date.now() + 3_600_000;
    await db.write((tx) => tx.query(sql`INSERT INTO nodes (id, lease_until, seen) VALUES ('earlier', ${farAway}, 1000000)`));
    await storeEarlierKeys();
    await foldNames(db);
    assert.equal((await names("q=GROSS")).length, 1);
    await storeEarlierKeys();
    await db.write((tx) => tx.query(sql`DELETE FROM nodes WHERE id = 'earlier'`));
    await foldNames(db);
    assert.equal((await names("q=GROSS")).length, 1);
  });
});

suite("categories whose names now fold alike", () => {
  test("keep their names; the later one is found by its id, listed, and can be changed", async () => {
    const { db } = service;
    const { id: accountId, key } = await service.newAccount();
    const ask = <T>(method: "GET" | "POST" | "PATCH", path: string, body?: object) =>
      service.ask<T>(method, path, { key, ...(body && { body }) });
    const ids: number[] = [];
    for (const name of ["Straße", "Kleintiere", "STRASSE", "ΟΔΟΣ", "οδος"]) {
      const rows = await db.write((tx) =>
        tx.query<Category>(sql`
          INSERT INTO categories (account_id, id, name, name_key, version)
          VALUES (${accountId}, nextval('category_ids'), ${name}, ${`${earlier(name)}${ids.length === 4 ? "!" : ""}`}, 1) RETURNING id`),
      );
      ids.push(rows[0]!.id);
    }
    await db.write((tx) => tx.query(sql`UPDATE folded_names SET folding = ''`));
    await foldNames(db);
    const alike = async () => (await db.query<{ count: number; name: string }>(namesAlike))[0];
    assert.partialDeepStrictEqual(await alike(), { count: 2, name: "STRASSE" }, "for `doctor`");
    const { body } = await ask<Category[]>("GET", "/categories");
    assert.deepEqual(
      body.map(({ name }) => name),
      ["Straße", "Kleintiere", "STRASSE", "ΟΔΟΣ", "οδος"],
    );
    assert.deepEqual(
      (await ask<Category[]>("GET", "/categories?name=strasse")).body.map(({ id }) => id),
      [ids[0]],
    );
    assert.equal((await ask("POST", "/categories", { name: "Strasse" })).status, 409);
    const described = await ask<Category>("PATCH", `/categories/${ids[2]}`, { description: "Streets" });
    assert.deepEqual([described.status, described.body.name], [200, "STRASSE"]);
    assert.equal((await ask("PATCH", `/categories/${ids[2]}`, { name: "Strassen" })).status, 200);
    assert.partialDeepStrictEqual(await alike(), { count: 1, name: "οδος" });
  });
});

test("a stored name that is refused today stays readable, and its other members can be changed", async () => {
  const { db, accountId } = service;
  const { id: categoryId } = (await service.ask<Category>("POST", "/categories", { body: { name: "Old names" } })).body;
  const { id } = (await service.ask<Pet>("POST", "/pets", { body: { name: "Old", categoryId } })).body;
  const odd = "Re\u0007x";
  await db.write((tx) => tx.query(sql`UPDATE pets SET name = ${odd}, name_key = ${odd} WHERE account_id = ${accountId} AND id = ${id}`));
  await db.write((tx) =>
    tx.query(sql`UPDATE categories SET name = ${odd}, name_key = ${odd} WHERE account_id = ${accountId} AND id = ${categoryId}`),
  );
  assert.equal((await service.ask<Pet[]>("GET", `/pets?id=${id}`)).body[0]?.name, odd);
  const sold = await service.ask<Pet>("PATCH", `/pets/${id}`, { body: { status: "sold" } });
  assert.deepEqual([sold.status, sold.body.name], [200, odd]);
  const described = await service.ask<Category>("PATCH", `/categories/${categoryId}`, { body: { description: "Some" } });
  assert.deepEqual([described.status, described.body.name], [200, odd]);
  assert.equal((await service.ask("PATCH", `/pets/${id}`, { body: { name: odd } })).status, 400);
});

test("each object within the body of a PATCH may be sent in part: it merges with what is there (RFC 7396)", () => {
  const document = description as unknown as { paths: Record<string, Record<string, Operation>> };
  const strict = Object.entries(document.paths).flatMap(([path, { patch }]) => {
    const body = patch && Object.values(patch.requestBody.content)[0]?.schema;
    return body ? strictObjectsIn(body).map((member) => `${path} ${member}`) : [];
  });
  assert.deepEqual(strict, []);
});

type Schema = { $ref?: string; allOf?: Schema[]; properties?: Record<string, Schema>; required?: string[] };
type Operation = { requestBody: { content: Record<string, { schema: Schema }> } };

/** The members that are objects with members that a client has to send. */
function strictObjectsIn(schema: Schema, place = ""): string[] {
  const { properties = {}, required = [] } = plain(schema);
  const own = place !== "" && required.length > 0 ? [place] : [];
  return [...own, ...Object.entries(properties).flatMap(([name, inner]) => strictObjectsIn(inner, `${place}.${name}`))];
}

function plain(schema: Schema): Schema {
  const found = resolved(description, schema);
  return found.allOf?.[0] ? plain(found.allOf[0]) : found;
}

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { nameKeyOf } from "../src/store/pets/pets.ts";
import { someOf } from "./support/fault-runs.ts";
import type { Category, Failure, InventoryItem, Order, Pet } from "./support/models.ts";
import { names } from "./support/pet-names.ts";
import { ask, engine, startService, testOnce, type Reply, type TestService } from "./support/service.ts";
import { made, newCategory } from "./support/shop.ts";

let shop: TestService;
let pets: Pet[];
const categories: number[] = [];
const statuses = ["available", "pending", "sold"] as const;

before(async () => {
  shop = await startService();
  for (const name of ["Dogs", "Cats"]) categories.push((await newCategory(shop, name)).id);
  const batch = Array.from({ length: 87 }, (_, i) => ({
    name: names[(i * 7) % names.length],
    categoryId: categories[i % 3 === 0 ? 1 : 0],
    status: statuses[(i * 5) % 3],
  }));
  pets = await made<Pet[]>(shop, "POST", "/pets/batch", batch);
});
after(() => shop.close());

/** Follows the `Link` of each page to the last, and returns the pages. */
async function walk<T>(path: string): Promise<T[][]> {
  const pages: T[][] = [];
  for (let next: string | undefined = `/v1${path}`; next !== undefined;) {
    const { status, body, headers }: Reply<T[]> = await ask(shop.address + next, "GET", { key: shop.key });
    assert.equal(status, 200, JSON.stringify(body));
    pages.push(body);
    next = /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];
    assert.ok(pages.length <= 100);
  }
  return pages;
}

/** The key of a name ends with its 200th code point. */
/** Its rules are those of folding.test.ts. */
const fold = nameKeyOf;

/** The least word of a name that begins with `q`: those between spaces, and those between spaces or marks, 33 of each at most. */
function wordOf(name: string, q: string): string | undefined {
  const words = [/\s/, /[\s\-/()[\]"'.,&+*#:;_]/].flatMap((separator) => fold(name).split(separator).slice(0, 33));
  return words.filter((word) => word !== "" && word.startsWith(fold(q))).toSorted(bytewise)[0];
}

/** What a search finds: names that begin with `q`, by name; then names of which a later word does, by that word. */
function found(text: string, some: Pet[], sort: Sort): Pet[] {
  const q = text.trim();
  const named = some.filter(({ name }) => fold(name).startsWith(fold(q))).toSorted(orders[sort]);
  const worded = some.filter((pet) => !named.includes(pet) && wordOf(pet.name, q) !== undefined);
  const direction = sort === "-name" ? -1 : 1;
  const byWord = (a: Pet, b: Pet) => direction * bytewise(wordOf(a.name, q)!, wordOf(b.name, q)!) || a.id - b.id;
  return [...named, ...worded.toSorted(byWord)];
}
const bytewise = (a: string, b: string): number => Buffer.compare(Buffer.from(fold(a)), Buffer.from(fold(b)));

type Sort = "id" | "-id" | "name" | "-name";
const orders: Record<Sort, (a: Pet, b: Pet) => number> = {
  id: (a, b) => a.id - b.id,
  "-id": (a, b) => b.id - a.id,
  name: (a, b) => bytewise(a.name, b.name) || a.id - b.id,
  "-name": (a, b) => bytewise(b.name, a.name) || a.id - b.id,
};

type Filter = { query: string; passes: (pet: Pet) => boolean; q?: string };
const searches = (some: Pet[]): Filter[] => {
  const begins = (q: string) => ({ query: `q=${encodeURIComponent(q)}`, passes: () => true, q });
  return [
    {
      query: `q=re&${some.map(({ id }) => `id=${id}`).join("&")}`,
      passes: (pet) => some.includes(pet),
      q: "re",
    },
    { query: "q=re&status=available&status=sold", passes: ({ status }) => status !== "pending", q: "re" },
    ...[
      "re",
      "REX",
      "ｒｅ",
      "fi",
      "🐶",
      "å",
      "%",
      "_",
      "'",
      "i",
      "zz",
      "",
      "ﷺ",
      "ﷺ".repeat(100),
      "reto",
      "rexa",
      "r3",
      "a\u030a",
      "İ",
      "   ",
      "\\x",
      "x",
      "%%",
      "r39",
      "x".repeat(200),
    ].map(begins),
    { query: "q=re&status=available", passes: ({ status }) => status === "available", q: "re" },
    {
      query: `q=r&categoryId=${categories[0]}`,
      passes: ({ categoryId }) => categoryId === categories[0],
      q: "r",
    },
  ];
};

const filters = (): Filter[] => {
  const some = pets.filter((_, i) => i % 2 === 0).slice(0, 40);
  return [
    { query: "", passes: () => true },
    { query: "status=sold", passes: ({ status }) => status === "sold" },
    { query: `categoryId=${categories[0]}`, passes: ({ categoryId }) => categoryId === categories[0] },
    {
      query: `categoryId=${categories[1]}&status=pending`,
      passes: ({ categoryId, status }) => categoryId === categories[1] && status === "pending",
    },
    { query: some.map(({ id }) => `id=${id}`).join("&"), passes: (pet) => some.includes(pet) },
    { query: "status=sold&status=pending&status=sold", passes: ({ status }) => status !== "available" },
    { query: "status=sold&status=pending&status=available", passes: () => true },
    {
      query: `status=available&status=sold&categoryId=${categories[1]}`,
      passes: ({ categoryId, status }) => categoryId === categories[1] && status !== "pending",
    },
    {
      query: `${some
        .map(({ id }) => `id=${id}&id=${id}`)
        .slice(0, 20)
        .join("&")}&id=${2 ** 53}&status=sold&status=pending&categoryId=${categories[0]}`,
      passes: (pet) => some.slice(0, 20).includes(pet) && pet.status !== "available" && pet.categoryId === categories[0],
    },
    ...searches(some),
  ];
};

/** On PostgreSQL a run tries each filter with each sort at one of these lengths of a page, which follow one another in `someOf`. */
const limits = [1, 4, 7, 20];

suite("every filter with every sort returns each matching pet exactly once, in order, ties by id", () => {
  for (const sort of Object.keys(orders) as Sort[]) {
    for (const limit of limits) {
      test(`sort=${sort}, ${limit} a page`, async () => {
        const sortable = filters().filter((filter) => filter.q === undefined || sort.endsWith("name"));
        for (const { query, passes, q } of someOf(sortable, engine === "sqlite" ? 1 : limits.length)) {
          const passing = pets.filter(passes);
          const expected = q === undefined ? passing.toSorted(orders[sort]) : found(q, passing, sort);
          const pages = await walk<Pet>(`/pets?${query}&sort=${sort}&limit=${limit}`.replace("?&", "?"));
          assert.deepEqual(pages.flat(), expected, `${query} by ${q === undefined ? "value" : "name"}`);
          assert.ok(pages.slice(0, -1).every((page) => page.length === limit));
          assert.ok(expected.length === 0 || pages.at(-1)?.length !== 0, "the last page is not empty");
        }
      });
    }
  }
});

test("a list is a plain array of 20, ordered by id; with q it is ordered by name", async () => {
  const first = await shop.ask<Pet[]>("GET", "/pets");
  assert.deepEqual(first.body, pets.toSorted(orders.id).slice(0, 20));
  const begin = await shop.ask<Pet[]>("GET", "/pets?q=re&limit=100");
  assert.deepEqual(begin.body, found("re", pets, "name"));
  for (const sort of ["id", "-id"]) assert.equal((await shop.ask("GET", `/pets?q=re&sort=${sort}`)).status, 400);
});

test("a cursor with another filter or sort returns 400; with another limit it works", async () => {
  const { headers } = await shop.ask("GET", "/pets?status=sold&sort=name&limit=2");
  const cursor = /cursor=([^&>]+)/.exec(headers.get("link") ?? "")?.[1] ?? "";
  for (const query of ["status=sold", "status=sold&sort=-name", "sort=name", "status=pending&sort=name", "status=sold&sort=name&q=re"]) {
    const { status, body } = await shop.ask<Failure>("GET", `/pets?${query}&cursor=${cursor}`);
    assert.deepEqual([status, body.code, body.details?.[0]?.path], [400, "invalid_request", "query.cursor"], query);
  }
  const elsewhere = ["/categories", "/store/orders", "/store/inventory?status=sold"];
  for (const path of elsewhere)
    assert.equal((await shop.ask("GET", `${path}${path.includes("?") ? "&" : "?"}cursor=${cursor}`)).status, 400);
  const sold = pets.filter(({ status }) => status === "sold").toSorted(orders.name);
  assert.deepEqual((await shop.ask("GET", `/pets?sort=name&status=sold&limit=3&cursor=${cursor}`)).body, sold.slice(2, 5));
});

test("a cursor of the default order also works if the request names that order", async () => {
  for (const [asked, named] of [
    ["status=sold", "status=sold&sort=id"],
    ["q=re", "q=re&sort=name"],
  ]) {
    const { headers } = await shop.ask("GET", `/pets?${asked}&limit=2`);
    const cursor = /cursor=([^&>]+)/.exec(headers.get("link") ?? "")?.[1] ?? "";
    const [next, sameNext] = await Promise.all(
      [asked, named].map((query) => shop.ask<Pet[]>("GET", `/pets?${query}&limit=2&cursor=${cursor}`)),
    );
    assert.equal(next?.status, 200);
    assert.deepEqual(sameNext?.body, next.body);
  }
});

testOnce("a cursor that the service did not make returns 400, never 500", async () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const { headers } = await shop.ask("GET", "/pets?limit=2");
  const ours = JSON.parse(Buffer.from(/cursor=([^&>]+)/.exec(headers.get("link") ?? "")?.[1] ?? "", "base64url").toString()) as unknown[];
  const forged = [
    ["0"],
    [],
    {},
    null,
    [ours[0]],
    [ours[0], "1"],
    [ours[0], -1],
    [ours[0], 1.5],
    [ours[0], 1, 1],
    [ours[0], {}],
    [ours[0], "a", 1],
    [ours[0], 1e300],
  ];
  for (const cursor of ["", "x", "%00", "%F0%9F%90%B6", "a".repeat(2_001), ...forged.map(encode)]) {
    const { status, body } = await shop.ask<Failure>("GET", `/pets?cursor=${cursor}`);
    assert.deepEqual([status, body.code], [400, "invalid_request"], cursor);
  }
});

test("the next page continues after the last pet, even if pets before it are deleted or created", async () => {
  const { id: categoryId } = await newCategory(shop, "Passing");
  const some = await made<Pet[]>(
    shop,
    "POST",
    "/pets/batch",
    ["b", "c", "d", "e"].map((name) => ({ name, categoryId })),
  );
  const list = `/pets?categoryId=${categoryId}&sort=name`;
  const first = await shop.ask<Pet[]>("GET", `${list}&limit=2`);
  const next = /<([^>]+)>/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
  await made(shop, "DELETE", `/pets/${some[1]?.id}`);
  await made(shop, "POST", "/pets", { name: "a", categoryId });
  assert.deepEqual((await ask(shop.address + next, "GET", { key: shop.key })).body, some.slice(2));
});

test("categories, orders and inventory are paged by id, with each of their filters and sorts", async () => {
  const tracked = pets.slice(0, 9);
  for (const [i, { id }] of tracked.entries()) await made<InventoryItem>(shop, "PUT", `/store/inventory/${id}`, { quantity: i % 3 });
  const entries = (await walk<InventoryItem>("/store/inventory?limit=2")).flat();
  assert.deepEqual(
    entries.map(({ petId, quantity }) => [petId, quantity]),
    tracked.map(({ id }, i) => [id, i % 3]),
  );
  const free = (await walk<InventoryItem>("/store/inventory?status=available&limit=2")).flat();
  assert.deepEqual(
    free,
    entries.filter(({ status }) => status === "available"),
  );

  const some = [8, 2, 5].map((i) => tracked[i]?.id);
  const ofSome = (await walk<InventoryItem>(`/store/inventory?limit=2&${some.map((id) => `petId=${id}`).join("&")}&petId=999999`)).flat();
  assert.deepEqual(
    ofSome,
    entries.filter(({ petId }) => some.includes(petId)),
  );
  const noneFree = (await walk<InventoryItem>("/store/inventory?limit=2&status=sold&status=pending")).flat();
  assert.deepEqual(
    noneFree,
    entries.filter(({ status }) => status !== "available"),
  );
  const freeOfSome = await walk<InventoryItem>(`/store/inventory?limit=2&status=available&${some.map((id) => `petId=${id}`).join("&")}`);
  assert.deepEqual(
    freeOfSome.flat(),
    ofSome.filter(({ status }) => status === "available"),
  );

  const placed: Order[] = [];
  const petIds = [pets.findLast(({ status }) => status === "available")?.id, undefined];
  for (let i = 0; i < 9; i++)
    placed.push(await made<Order>(shop, "POST", "/store/orders", { petId: petIds[i % 2], complete: i % 3 === 0 }));
  const filtersOfOrders: [string, (order: Order) => boolean][] = [
    ["", () => true],
    [`petId=${petIds[0]}`, ({ petId }) => petId === petIds[0]],
    ["complete=true", ({ complete }) => complete === true],
    ["complete=false", ({ complete }) => complete === false],
    [`petId=${petIds[0]}&complete=true`, ({ petId, complete }) => petId === petIds[0] && complete === true],
  ];
  for (const [query, passes] of filtersOfOrders) {
    assert.deepEqual((await walk<Order>(`/store/orders?limit=2${query && `&${query}`}`)).flat(), placed.filter(passes), query);
    const newestFirst = (await walk<Order>(`/store/orders?limit=2&sort=-id${query && `&${query}`}`)).flat();
    assert.deepEqual(newestFirst, placed.filter(passes).toReversed(), `${query} sort=-id`);
  }

  const all = (await walk<Category>("/categories?limit=1")).flat();
  assert.deepEqual(
    all.map(({ id }) => id),
    all.map(({ id }) => id).toSorted((a, b) => a - b),
  );
  assert.ok(categories.every((id) => all.some((category) => category.id === id)));
  assert.deepEqual(
    (await walk<Category>("/categories?name=%20dOGS")).flat(),
    all.filter(({ name }) => name === "Dogs"),
  );
  assert.deepEqual((await walk<Category>("/categories?name=Dog")).flat(), []);
});

test("whatever the names, pets in answers are the JSON that JSON.stringify makes, and a page ends where its last pet does", async () => {
  const { id: categoryId } = await newCategory(shop, "Hostile");
  const hostile = [`",{"id":2,`, `,{"id":1,"name":"`, `\\"`, "\\u0041", "a\ufeffb", "😀 é ا", "</script>", "'||'"];
  const own = await made<Pet[]>(
    shop,
    "POST",
    "/pets/batch",
    hostile.map((name) => ({ name, categoryId })),
  );
  const textOf = async (path: string): Promise<string> =>
    (await fetch(`${shop.address}/v1${path}`, { headers: { authorization: `Bearer ${shop.key}` } })).text();
  const shown = own.map(({ id, name, status }) => JSON.stringify({ id, name, categoryId, status }));
  for (const sort of ["id", "-id"]) {
    const inOrder = sort === "id" ? shown : shown.toReversed();
    for (let limit = 1; limit <= hostile.length; limit++)
      assert.equal(await textOf(`/pets?categoryId=${categoryId}&sort=${sort}&limit=${limit}`), `[${inOrder.slice(0, limit).join(",")}]`);
  }
  for (const [i, { id }] of own.entries()) assert.equal(await textOf(`/pets?id=${id}`), `[${shown[i]}]`);
  assert.equal(await textOf(`/pets?categoryId=${categoryId}&status=sold&sort=id`), "[]");
});

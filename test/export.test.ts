import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { exported, fileOf, importing, openShop, petstore, refusal, type Pet } from "./support/importing.ts";

test("an export holds every field of its model, and a file appears only when it is complete", async (t) => {
  const shop = await openShop(t);
  await importing(shop, await fileOf(shop, ['A1,"Rex, ""the"" dog",dog,', "A2,=1+1,cat,"]));
  const out = join(shop.folder, "pets.csv");
  assert.equal((await petstore(shop, "export", "pets", "--out", out)).code, 0);
  const pets = await exported<Pet>(shop, "pets");
  assert.equal(
    (await readFile(out, "utf8")).replaceAll(/x(-[0-9a-f]{8}){5}$/gm, "x"),
    `id,name,categoryId,status,category,stock,exported\n${pets[0]?.id},"Rex, ""the"" dog",${pets[0]?.categoryId},available,dog,1,x\n${pets[1]?.id},=1+1,${pets[1]?.categoryId},available,cat,1,x\n`,
  );
  const entries = pets.map(({ id }) => `${id},1,available\n`).join("");
  for (const [list, text] of [
    ["orders", "id,petId,quantity,shipDate,complete\n"],
    ["inventory", `petId,quantity,status\n${entries}`],
  ] as const)
    assert.equal((await petstore(shop, "export", list)).out, text);

  const wrong = { ...shop, key: "psk_wrong" };
  assert.match(await refusal(wrong, "export", "pets", "--out", join(shop.folder, "never.csv")), /key/i);
  assert.match(await refusal(wrong, "export", "pets", "--format", "csv"), /key/i, "and no header went before it");
  assert.match(await refusal(shop, "export", "animals"), /is not one of pets, categories, orders, inventory/);
  assert.match(await refusal(shop, "export", "pets", "--format", "xml"), /is neither csv nor ndjson/);
  assert.ok(!(await readdir(shop.folder)).some((name) => name.startsWith("never")));
});

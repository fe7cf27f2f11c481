import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { namesIn, openShop, petstore } from "./support/importing.ts";

test("files of two systems that both count from 1 stay apart, and a file that may be of either is asked about", async (t) => {
  const shop = await openShop(t);
  const write = async (name: string, species: string, names: string[]): Promise<string> => {
    const lines = names.map((one, index) => `${index + 1},${one},${species}`);
    const path = join(shop.folder, name);
    await writeFile(path, ["Animal ID,Name,Species", ...lines, ""].join("\n"));
    return path;
  };
  const run = async (file: string, ...more: string[]) => petstore(shop, "import", file, ...more, "--json");
  const created = async (file: string, ...more: string[]) => (JSON.parse((await run(file, ...more)).out) as { created: number }).created;
  assert.equal(await created(await write("dogs.csv", "Dog", ["Rex", "Bo", "Max"])), 3);
  const cats = await write("cats.csv", "Cat", ["Mia", "Luna", "Tom", "Leo", "Kit"]);
  assert.equal(await created(cats), 5);
  assert.equal(
    await created(await write("next.csv", "Cat", ["MIA", "Luna", "Tommy", "Leo", "Kit", "Fee"])),
    1,
    "next month's file is known by its animals",
  );

  await write("cats.csv", "Fish", ["Nemo", "Dory", "Hank", "Pearl", "Gill"]);
  const asked = await run(cats);
  assert.equal(asked.code, 2);
  assert.match(asked.error, /has ids of “cats”, where they are animals with other names.*--source/);
  assert.equal(await created(cats, "--source", "Aquarium"), 5);
  const names = "Rex Bo Max MIA Luna Tommy Leo Kit Fee Nemo Dory Hank Pearl Gill".split(" ");
  assert.deepEqual((await namesIn(shop)).toSorted(), names.toSorted());
});

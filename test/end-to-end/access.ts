import assert from "node:assert/strict";
import { ask, type Reply } from "../support/service.ts";
import type { Scene } from "./scene.ts";

const freePerMinute = 60;

export async function makeKey({ page, dialog, go }: Scene): Promise<string> {
  await go("Keys");
  await page.getByRole("button", { name: "Create a key" }).click();
  for (const box of await dialog.getByRole("checkbox").all()) await box.check();
  await dialog.getByRole("button", { name: "Create a key" }).click();
  const key = await dialog.getByRole("textbox", { name: "Key" }).inputValue();
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.reload();
  await page
    .getByRole("row")
    .filter({ hasText: key.slice(0, 8) })
    .waitFor();
  assert.ok(!(await page.content()).includes(key), "shown once");
  return key;
}

/** Calls the API until it refuses, and gives how many calls that were: a minute may end in between. */
export async function reachTheLimit({ service }: Scene, key: string): Promise<number> {
  const replies: Reply[] = [];
  while (replies.at(-1)?.status !== 429 && replies.length <= 2 * freePerMinute) replies.push(await listOne(service.address, key));
  const refused = replies.at(-1)!;
  assert.deepEqual([refused.status, limitOf(refused, "limit"), limitOf(refused, "remaining")], [429, "60", "0"]);
  assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]\d?$/);
  const answered = replies.filter((reply) => reply.status === 200 && limitOf(reply, "reset") === limitOf(refused, "reset"));
  assert.equal(answered.length, freePerMinute);
  return replies.length;
}

export async function seeItOnUsage({ page, go }: Scene, calls: number): Promise<void> {
  await go("Usage");
  await page.getByText("The plan’s limit is 60 a minute.").waitFor();
  const row = page
    .getByRole("table", { name: "By key" })
    .getByRole("row")
    .filter({ has: page.getByRole("cell", { name: String(calls), exact: true }) });
  await row.getByRole("cell", { name: String(calls), exact: true }).waitFor();
  const [name, ...numbers] = await row.getByRole("cell").allInnerTexts();
  assert.match(name ?? "", /^Key \d+$/);
  assert.deepEqual(numbers, [String(calls), "1", "0"]);
}

export async function goOnWithPro({ petstore, service }: Scene, key: string): Promise<void> {
  await petstore(key, "accounts", "set-plan", "1", "--plan", "pro");
  const reply = await listOne(service.address, key);
  assert.deepEqual([reply.status, limitOf(reply, "limit")], [200, "300"]);
}

const listOne = (address: string, key: string): Promise<Reply> => ask(`${address}/v1/pets?limit=1`, "GET", { key });
const limitOf = ({ headers }: Reply, name: string): string | null => headers.get(`x-ratelimit-${name}`);

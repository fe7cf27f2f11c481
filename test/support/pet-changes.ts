import assert from "node:assert/strict";
import { newMember, type Browser } from "./dashboard.ts";
import type { Pet } from "./models.ts";
import type { TestService } from "./service.ts";

/** The result of a change of one animal, as the dashboard gets it. */
export type Result = {
  id: number;
  outcome: string;
  before?: object;
  after?: object;
  versions?: Record<string, number | null>;
  madeProfile?: boolean;
  code?: string;
  message?: string;
};
/** An account with a member, two categories, and dogs in the first. */
export type Shop = { account: number; key: string; member: Browser; dogs: number; cats: number; ids: number[] };
let people = 0;

export async function openShop(service: TestService, animals = 3): Promise<Shop> {
  const { id: account, key } = await service.newAccount();
  const made = async (path: string, body: unknown) => (await service.ask<{ id: number }>("POST", path, { key, body })).body.id;
  const [dogs, cats] = [await made("/categories", { name: "Dogs" }), await made("/categories", { name: "Cats" })];
  const body = Array.from({ length: animals }, (_, index) => ({ name: `Dog ${index}`, categoryId: dogs }));
  const ids = (await service.ask<Pet[]>("POST", "/pets/batch", { key, body })).body.map(({ id }) => id);
  people += 1;
  const member = await newMember(service, { account, email: `changer${people}@shop.example`, role: "member" });
  return { account, key, member, dogs, cats, ids };
}

/** Sends changes of many animals, which must be accepted, and returns their results. */
export async function change({ member }: Shop, changes: object[], headers: Record<string, string> = {}): Promise<Result[]> {
  const { status, body } = await member.ask<{ results: Result[] }>("POST", "/pets/changes", { changes }, headers);
  assert.equal(status, 200, JSON.stringify(body));
  return body.results;
}

export const state = (name: string, categoryId: number, status: string, stock: number | null) => ({ name, categoryId, status, stock });

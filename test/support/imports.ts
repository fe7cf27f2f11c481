import assert from "node:assert/strict";
import type { Failure, Pet } from "./models.ts";
import type { Reply, TestService } from "./service.ts";
import { until } from "./until.ts";

export type Import = {
  id: number;
  status: string;
  created: number;
  updated: number;
  unchanged: number;
  rejected: number;
  finishedAt?: string;
  undone?: number;
  stays?: { count: number; pets: { petId: number; reason: string }[] };
};
export type Result = { sourceId: string; petId: number; outcome: string };
export type Profile = { description?: string; price?: { amount: number; currency: string } };
type RowPet = { name: string; categoryId: number; status?: string };
export type Row = { sourceId: string; pet: RowPet; quantity?: number; profile?: Profile; petId?: number; previous?: RowPet };

export async function openImportShop(service: TestService, plan?: string, figures?: Parameters<TestService["newAccount"]>[1]) {
  const { id, key } = await service.newAccount(plan, figures);
  const send = <T = Failure>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply<T>> =>
    service.ask<T>(method, path, { key, headers, ...(body !== undefined && { body }) });
  const make = async <T>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<T> => {
    const reply = await send<T>(method, path, body, headers);
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const begin = (source = "Register", more: object = {}) => make<Import>("POST", "/imports", { source, fileName: "animals.csv", ...more });
  const dogs = (await make<{ id: number }>("POST", "/categories", { name: "Dogs" })).id;
  const row = (sourceId: string, name: string, more: Partial<Row> & { status?: string } = {}): Row => {
    const { status, ...fields } = more;
    return { sourceId, pet: { name, categoryId: dogs, ...(status !== undefined && { status }) }, ...fields };
  };
  /** Imports rows as one import of their own, and returns what became of them. */
  const importAll = async (rows: Row[], source?: string) =>
    make<Result[]>("POST", `/imports/${(await begin(source)).id}/rows?last=true`, rows);
  const newest = async () => (await make<Import[]>("GET", "/imports?sort=-id&limit=1"))[0]!;
  /** Undoes an import, and returns it when that is done. */
  const undo = async (importId: number) => {
    const begun = await make<Import>("POST", `/imports/${importId}/undo`);
    assert.ok(["undoing", "undone"].includes(begun.status));
    const found = () => make<Import>("GET", `/imports/${importId}`);
    await until(async () => (await found()).status === "undone");
    return found();
  };
  const stockOf = async (petId: number) => (await send<{ quantity?: number }>("GET", `/store/inventory/${petId}`)).body.quantity;
  const profileOf = async (petId: number) => (await send<Profile & { code?: string }>("GET", `/pets/${petId}/profile`)).body;
  const petOf = async (petId: number) => (await make<Pet[]>("GET", `/pets?id=${petId}`))[0];
  return { id, key, dogs, send, make, begin, row, importAll, newest, undo, stockOf, profileOf, petOf };
}

export const outcomes = (results: Result[]): string[] => results.map(({ outcome }) => outcome);

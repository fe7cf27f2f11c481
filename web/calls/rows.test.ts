import assert from "node:assert/strict";
import { test } from "node:test";
import { InfiniteQueryObserver, QueryClient, QueryObserver } from "@tanstack/react-query";
import { dashboardKey } from "./lists.ts";
import { changeRows, showAnswer } from "./rows.ts";

type Animal = { id: number; name: string; categoryId: number; status: "available" };
type Page = { rows: Animal[]; next: string | undefined };

const animal = (id: number, name: string): Animal => ({ id, name, categoryId: 1, status: "available" });
const names = (page: Page) => page.rows.map(({ name }) => name);

/** A list of two pages whose answers are given by hand: `asked` are the cursors that are waited for, and what answers them. */
function openList() {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: "always" } } });
  const asked: { cursor: string | undefined; answer: (page: Page) => void }[] = [];
  const list = new InfiniteQueryObserver(client, {
    queryKey: [dashboardKey, "/pets", {}],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      assert.ok(!signal.aborted);
      return new Promise<Page>((answer) => asked.push({ cursor: pageParam, answer }));
    },
    getNextPageParam: ({ next }: Page) => next,
  });
  const stop = list.subscribe(() => {});
  const shown = () => list.getCurrentResult().data?.pages.flatMap(names);
  const settled = () => new Promise<void>((done) => void setImmediate(done));
  return { client, list, asked, shown, settled, stop };
}

test("a row that is changed while a further page is on its way stays changed", async () => {
  const { client, list, asked, shown, settled, stop } = openList();
  asked[0]?.answer({ rows: [animal(1, "Rex")], next: "2" });
  await settled();
  void list.fetchNextPage();
  changeRows(client, "/pets", (row) => ({ ...row, name: "Max" }));
  asked[1]?.answer({ rows: [animal(2, "Luna")], next: undefined });
  await settled();
  assert.deepEqual(shown(), ["Max"]);
  assert.equal(list.getCurrentResult().isFetchingNextPage, false, "so that the table asks for it again");
  void list.fetchNextPage();
  asked[2]?.answer({ rows: [animal(2, "Luna")], next: undefined });
  await settled();
  assert.deepEqual(shown(), ["Max", "Luna"]);
  stop();
});

test("a list that is being read anew while a row is changed is read once more", async () => {
  const { client, list, asked, shown, settled, stop } = openList();
  asked[0]?.answer({ rows: [animal(1, "Rex"), animal(2, "Luna")], next: undefined });
  await settled();
  void list.refetch();
  changeRows(client, "/pets", (row) => (row.id === 1 ? undefined : row));
  asked[1]?.answer({ rows: [animal(1, "Rex"), animal(2, "Luna")], next: undefined });
  await settled();
  assert.deepEqual(shown(), ["Luna"]);
  asked[2]?.answer({ rows: [animal(2, "Luna"), animal(3, "Ben")], next: undefined });
  await settled();
  assert.deepEqual(shown(), ["Luna", "Ben"]);
  stop();
});

test("what a write has answered is not replaced by what was read before it", async () => {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: "always" } } });
  const queryKey = [dashboardKey, "stock"];
  const asked: ((count: number) => void)[] = [];
  const queryFn = ({ signal }: { signal: AbortSignal }) => {
    assert.ok(!signal.aborted);
    return new Promise<number>((answer) => asked.push(answer));
  };
  const stock = new QueryObserver(client, { queryKey, queryFn });
  const stop = stock.subscribe(() => {});
  asked[0]?.(4);
  await stock.fetchOptimistic(client.defaultQueryOptions({ queryKey, queryFn }));
  void stock.refetch();
  showAnswer(client, queryKey, 5);
  asked[1]?.(4);
  await new Promise<void>((done) => void setImmediate(done));
  assert.equal(stock.getCurrentResult().data, 5);
  stop();
});

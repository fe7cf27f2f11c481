import assert from "node:assert/strict";
import { test } from "node:test";
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { dashboardKey } from "./lists.ts";
import { changeRows, reread, rereadList, showAnswer } from "./rows.ts";

type Pet = { id: number; name: string; categoryId: number; status: "available" };
type Page = { rows: Pet[]; next: string | undefined };

const pet = (id: number, name: string): Pet => ({ id, name, categoryId: 1, status: "available" });

/** A page of a list whose responses the test supplies, in the order of the requests. */
function openPage(client: QueryClient, cursor: string | null) {
  const asked: ((page: Page) => void)[] = [];
  const page = new QueryObserver<Page>(client, {
    queryKey: [dashboardKey, "/pets", {}, "page", cursor],
    queryFn: ({ signal }) => {
      assert.ok(!signal.aborted);
      return new Promise<Page>((answer) => asked.push(answer));
    },
  });
  const stop = page.subscribe(() => {});
  const shown = () => page.getCurrentResult().data?.rows.map(({ name }) => name);
  return { page, asked, shown, stop };
}

const openClient = () => new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: "always" } } });
const settled = () => new Promise<void>((done) => void setImmediate(done));

test("a row that changes while another page is being read stays changed, and that page is read again", async () => {
  const client = openClient();
  const [first, second] = [openPage(client, null), openPage(client, "2")];
  first.asked[0]?.({ rows: [pet(1, "Rex")], next: "2" });
  await settled();
  changeRows(client, "/pets", (row) => ({ ...row, name: "Max" }));
  await settled();
  second.asked[0]?.({ rows: [pet(2, "Luna")], next: undefined });
  await settled();
  assert.deepEqual([first.shown(), second.shown()], [["Max"], undefined]);
  second.asked[1]?.({ rows: [pet(2, "Ben")], next: undefined });
  await settled();
  assert.deepEqual([first.shown(), second.shown()], [["Max"], ["Ben"]]);
  first.stop();
  second.stop();
});

test("a page that is being reread while one of its rows changes is read once more", async () => {
  const client = openClient();
  const { page, asked, shown, stop } = openPage(client, null);
  asked[0]?.({ rows: [pet(1, "Rex"), pet(2, "Luna")], next: undefined });
  await settled();
  void page.refetch();
  changeRows(client, "/pets", (row) => (row.id === 1 ? undefined : row));
  await settled();
  asked[1]?.({ rows: [pet(1, "Rex"), pet(2, "Luna")], next: undefined });
  await settled();
  assert.deepEqual(shown(), ["Luna"]);
  asked[2]?.({ rows: [pet(2, "Luna"), pet(3, "Ben")], next: undefined });
  await settled();
  assert.deepEqual(shown(), ["Luna", "Ben"]);
  stop();
});

test("data that changes during its first read is read once more", async () => {
  const client = openClient();
  const { asked, shown, stop } = openPage(client, null);
  const done = reread(client, { queryKey: [dashboardKey, "/pets"] });
  asked[0]?.({ rows: [pet(1, "Rex")], next: undefined });
  await settled();
  asked[1]?.({ rows: [pet(1, "Max")], next: undefined });
  await done;
  assert.deepEqual([shown(), asked.length], [["Max"], 2]);
  stop();
});

test("a read that began before a write does not replace the write's answer", async () => {
  const client = openClient();
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
  await settled();
  assert.equal(stock.getCurrentResult().data, 5);
  stop();
});

test("when a list is read from its top, a single row stays as it is until it is read again", async () => {
  const client = openClient();
  const list = openPage(client, null);
  const singles: ((row: Pet) => void)[] = [];
  const one = new QueryObserver<Pet>(client, {
    queryKey: [dashboardKey, "/pets", "one", 1],
    queryFn: () => new Promise<Pet>((answer) => singles.push(answer)),
  });
  const stop = one.subscribe(() => {});
  const shown = () => one.getCurrentResult().data?.name;
  list.asked[0]?.({ rows: [pet(1, "Rex")], next: undefined });
  singles[0]?.(pet(1, "Rex"));
  await settled();
  void rereadList(client, "/pets");
  await settled();
  assert.deepEqual([list.shown(), shown()], [undefined, "Rex"]);
  list.asked[1]?.({ rows: [pet(1, "Max")], next: undefined });
  singles[1]?.(pet(1, "Max"));
  await settled();
  assert.deepEqual([list.shown(), shown()], [["Max"], "Max"]);
  list.stop();
  stop();
});

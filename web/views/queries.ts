import { queryOptions } from "@tanstack/react-query";
import { dashboardKey } from "../calls/lists.ts";
import { callsBelow, jsonOf, readCall, send } from "../calls/send.ts";

/** A list whose filters and order can be saved. */
export type ViewList = "animals" | "orders";
/** A saved view of a list (docs/dashboard-api.md). `query` has the parameters of the list's page. */
export type View = { id: number; name: string; query: object };

/** The saved views of a list. `shown` has the filters and the order that the page shows now. */
export type ViewsProps = { list: ViewList; shown: object; onOpen: (query: Record<string, unknown>) => void };

/** The most views of a list. */
export const viewsMax = 20;

const pathOf = (list: ViewList): string => `/views/${list}`;

export const viewsQuery = (list: ViewList) =>
  queryOptions({
    queryKey: [dashboardKey, "/views", list],
    queryFn: async ({ signal }) => {
      const { views } = await readCall<{ views: View[] }>(pathOf(list), signal);
      return views.toSorted((a, b) => a.name.localeCompare(b.name));
    },
  });

/** @throws Refusal */
export async function saveView(list: ViewList, view: Omit<View, "id">): Promise<View> {
  const headers = { accept: "application/json", "content-type": "application/json" };
  const answer = await send(new Request(callsBelow + pathOf(list), { method: "POST", headers, body: jsonOf(view) }));
  return (await answer.json()) as View;
}

/** @throws Refusal */
export async function deleteView(list: ViewList, id: number): Promise<void> {
  await send(new Request(`${callsBelow}${pathOf(list)}/${id}`, { method: "DELETE" }));
}

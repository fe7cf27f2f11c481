/** The facts by which a list filters, in the order in which pages show them. */
export const shownFactNames = ["species", "breed", "sex", "born", "colour", "size"] as const;
export type ShownFactName = (typeof shownFactNames)[number];
/** `own`: further facts, which the shop names itself. */
export type ShownFacts = { [Name in ShownFactName]?: string } & { own?: { name: string; value: string }[] };
export type ShownFact = { name: ShownFactName; value: string };

/** The order of a list. `newest`: the newest first, and animals that can be bought before those that are reserved. */
type ListSort = "newest" | "name";
export type ListStatus = "available" | "pending";

/** Where a page of a list begins: after an animal of the given status, or after a name. */
export type ListStart = { status: ListStatus; id: number } | { name: string; id: number };

/** Which animals a list shows, and in which order. A search by `q` is by name, without a fact; a list by a fact is newest first. */
export type ListView = {
  category: number | undefined;
  status: ListStatus | undefined;
  sort: ListSort;
  q: string | undefined;
  fact: ShownFact | undefined;
  start: ListStart | undefined;
};

/** The page at a path. Only pages with `isKept` are cached: arbitrary addresses must not evict the pages that visitors want. */
export type RenderRequest =
  | { kind: "list"; view: ListView; key: string; isKept: boolean }
  | { kind: "animal"; id: number; key: string; isKept: true }
  | { kind: "page"; slug: string; key: string; isKept: true }
  | { kind: "font"; path: string; key: string; isKept: false }
  | { kind: "sitemap" | "robots" | "icon" | "nothing"; key: string; isKept: true };

const queryMax = 100;
const nameMax = 200;
/** How addresses name a status. */
const statusNames = { available: "available", pending: "reserved" } as const;

export function requestOf(path: string, query: string): RenderRequest {
  if (path === "robots.txt") return { kind: "robots", key: path, isKept: true };
  if (path === "sitemap.xml") return { kind: "sitemap", key: path, isKept: true };
  if (path === "favicon.ico") return { kind: "icon", key: path, isKept: true };
  if (path.startsWith("fonts/")) return { kind: "font", path, key: path.slice(0, 100), isKept: false };
  const animal = /^animals\/([1-9]\d{0,14})$/.exec(path);
  if (animal !== null) return { kind: "animal", id: Number(animal[1]), key: path, isKept: true };
  const page = /^pages\/([a-z0-9-]{1,40})$/.exec(path);
  if (page !== null) return { kind: "page", slug: page[1]!, key: path, isKept: true };
  if (path !== "") return { kind: "nothing", key: "", isKept: true };
  const view = viewOf(new URLSearchParams(query.slice(0, 2_000)));
  const isKept = isPlain(view) && view.start === undefined;
  return { kind: "list", view, key: `list ${JSON.stringify(view)}`, isKept };
}

/** Whether a list has all animals of the shop or of a category that are not sold, in the usual order. */
export function isPlain({ q, fact, status, sort }: ListView): boolean {
  return q === undefined && fact === undefined && status === undefined && sort === "newest";
}

function viewOf(given: URLSearchParams): ListView {
  const category = /^[1-9]\d{0,14}$/.exec(given.get("category") ?? "")?.[0];
  const text = (name: string): string | undefined =>
    (given.get(name) ?? "").replaceAll("\0", "").toWellFormed().trim().slice(0, queryMax).toWellFormed() || undefined;
  const q = text("q");
  const name = q === undefined ? shownFactNames.find((one) => text(one) !== undefined) : undefined;
  const fact = name === undefined ? undefined : { name, value: text(name)! };
  const status = (Object.keys(statusNames) as ListStatus[]).find((one) => statusNames[one] === given.get("status"));
  const sort = q !== undefined || (given.get("sort") === "name" && fact === undefined) ? "name" : "newest";
  return { category: category === undefined ? undefined : Number(category), status, sort, q, fact, start: startOf(given, sort) };
}

/** `before=12`: after the available animal 12; `before=r12`: after the reserved one; `after=12-Rex`: after Rex in the order of names. */
function startOf(given: URLSearchParams, sort: ListSort): ListStart | undefined {
  if (sort === "name") {
    const [, id, name] = /^([1-9]\d{0,14})-([^\0]+)$/u.exec((given.get("after") ?? "").slice(0, 16 + nameMax)) ?? [];
    return id === undefined || name === undefined ? undefined : { name: name.toWellFormed(), id: Number(id) };
  }
  const [, reserved, id] = /^(r?)([1-9]\d{0,14})$/.exec(given.get("before") ?? "") ?? [];
  return id === undefined ? undefined : { status: reserved === "r" ? "pending" : "available", id: Number(id) };
}

/** Returns the address of a page of the list. */
export function addressOf({ category, status, sort = "newest", q, fact, start }: Partial<ListView>): string {
  const query = new URLSearchParams();
  if (q !== undefined) query.set("q", q);
  if (category !== undefined) query.set("category", `${category}`);
  if (status !== undefined) query.set("status", statusNames[status]);
  if (fact !== undefined) query.set(fact.name, fact.value);
  else if (sort !== "newest" && q === undefined) query.set("sort", sort);
  if (start !== undefined && "name" in start) query.set("after", `${start.id}-${start.name}`);
  else if (start !== undefined) query.set("before", `${start.status === "pending" ? "r" : ""}${start.id}`);
  return query.size === 0 ? "/" : `/?${query.toString()}`;
}

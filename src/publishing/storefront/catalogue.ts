/** The parts of an account's catalogue that a storefront reads. */
export type Catalogue = {
  /** Changes when anything does that a storefront shows of the catalogue, and not with orders or stock that change nothing visible. */
  version: (accountId: number) => Promise<string>;
  categories: (accountId: number) => Promise<ShownCategory[]>;
  /** Up to `limit` animals that are not sold, the newest first; with `q`, those whose names begin with it, by name. */
  animals: (accountId: number, wanted: Wanted, limit: number) => Promise<ShownAnimal[]>;
  animal: (accountId: number, id: number) => Promise<ShownAnimal | undefined>;
  /** The identifiers of the newest animals that are not sold. */
  newest: (accountId: number, limit: number) => Promise<number[]>;
};

export type ShownCategory = { id: number; name: string };
export type ShownPhoto = { alt: string; forms: { type: string; width: number; height: number; hash: string }[] };
export type ShownAnimal = {
  id: number;
  name: string;
  categoryId: number;
  status: "available" | "pending" | "sold";
  description: string | null;
  price: { amount: number; currency: string } | null;
  photos: ShownPhoto[];
};

/** `before`: only animals with a lower identifier, because the newest come first. A search by `q` has one page. */
type Wanted = { categoryId: number | undefined; q: string | undefined; before: number | undefined };

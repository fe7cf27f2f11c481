export type { Category } from "../../src/store/categories/categories.ts";
export type { InventoryItem } from "../../src/store/inventory/inventory.ts";
export type { Order } from "../../src/store/orders/orders.ts";
export type { Pet } from "../../src/store/pets/pets.ts";

/** The specification's Error, as an answer has it. */
export type Failure = {
  code: string;
  message: string;
  status: number;
  details?: { path: string; message: string }[];
  challenge?: { type: "TXT"; name: string; value: string };
};

/** The texts of when stock is low, on the page Inventory. */
export const lowStockTexts = {
  open: (count: string) => (count === "0" ? "Low stock: off" : `Low stock: ${count} or fewer`),
  title: "When stock is low",
  label: "Units",
  hint: "An animal that had more free units and falls to this many or fewer is marked as low here and listed on the home page, and programs that watch your shop get a message. Single animals are never low. 0 turns this off.",
  action: "Save",
  done: (count: string) => `Stock is low at ${count} free units or fewer.`,
};

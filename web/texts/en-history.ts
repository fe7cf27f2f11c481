/** The texts of the history of an animal or an order, which only their pages load. */
export const historyTexts = {
  by: (name: string) => `by ${name}`,
  actors: { key: "a program", member: "a former member", operator: "the operator", system: "your storefront" },
  none: "none",
  changed: (field: string, before: string, after: string) => `${field}: ${before} → ${after}`,
};

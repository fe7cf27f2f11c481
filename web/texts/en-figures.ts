/** The figures of a shop's week; only Home loads these texts. */
export const figuresTexts = {
  title: "The last 7 days",
  placed: "Orders placed",
  fulfilled: "Orders fulfilled",
  value: "Value of the orders",
  valueIn: (currency: string) => `Value of the orders in ${currency}`,
  reservations: "Reservations and enquiries",
  lastDay: (count: string) => `${count} in the last 24 hours`,
  views: "Page views of your shop",
  more: (count: string) => `${count} more than in the 7 days before`,
  fewer: (count: string) => `${count} fewer than in the 7 days before`,
  less: (amount: string) => `${amount} less than in the 7 days before`,
  same: "As many as in the 7 days before",
  sameValue: "As much as in the 7 days before",
  valueHint: "The value is by the prices when the orders were placed, without cancelled ones.",
  viewsHint: "Page views are counted without cookies, so they are not visitors.",
  tooMany: "Only the newest 20,000 of each kind are counted.",
};

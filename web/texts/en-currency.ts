/** The texts of the setting for the shop's currency. */
export const currencyTexts = {
  open: (currency: string) => `Currency: ${currency}`,
  title: "The shop’s currency",
  label: "Currency",
  hint: "New prices begin with it. The prices of your animals stay as they are.",
  action: "Save",
  done: (currency: string) => `New prices are in ${currency}.`,
};

/** The texts of the menu of saved views. */
export const viewTexts = {
  none: "Filter or sort the list, then save it here.",
  full: (count: string) => `${count} views are saved, as many as a list may have.`,
  save: "Save this view …",
  saveTitle: "Save this view",
  name: "Name",
  nameHint: "Everybody in the shop finds the filters and the order under it, in any browser.",
  action: "Save",
  saved: (name: string) => `The view “${name}” is saved.`,
  delete: (name: string) => `Delete “${name}” …`,
  deleteTitle: (name: string) => `Delete the view “${name}”?`,
  deleteText: "It goes for everybody in the shop. What it lists stays as it is.",
  deleteAction: "Delete the view",
  deleted: (name: string) => `The view “${name}” is deleted.`,
};

/** The page of deleted animals. */
export const binTexts = {
  lead: "Deleted animals stay here for 30 days with their photos and stock. They count towards your plan until they are deleted for good.",
  all: "All animals",
  table: "Animals in the bin",
  name: "Name",
  category: "Category",
  price: "Price",
  deleted: "Deleted",
  gone: "Kept until",
  choose: (name: string) => `Choose ${name}`,
  chosen: (count: string) => (count === "1" ? "1 animal chosen" : `${count} animals chosen`),
  chosenTitle: "Chosen animals",
  clear: "Choose none",
  restore: "Restore",
  restoreOf: (name: string) => `Restore ${name}`,
  delete: "Delete for good",
  deleteTitle: (name: string) => `Delete “${name}” for good?`,
  deleteManyTitle: (count: string) => `Delete ${count} animals for good?`,
  deleteText: "Photos, facts and stock are deleted too. This cannot be undone.",
  deletedForGood: (count: string) => (count === "1" ? "1 animal is deleted for good." : `${count} animals are deleted for good.`),
  empty: "Empty the bin",
  emptyTitle: "Empty the bin?",
  emptyText: "Everything in it is deleted for good, also what is not shown here yet. This cannot be undone.",
  emptied: "The bin is empty.",
  nothing: "The bin is empty",
  nothingText: "Animals that you delete come here first, so you can restore them for 30 days.",
  returned: (name: string) => `“${name}” is back.`,
  returnedMany: (count: string) => `${count} animals are back.`,
  notReturned: (count: string) =>
    count === "1"
      ? "1 animal could not be restored: it is no longer in the bin."
      : `${count} animals could not be restored: they are no longer in the bin.`,
  homeless: (count: string) =>
    count === "1"
      ? "1 animal stays in the bin, because its category has been deleted. Restore it there into another one."
      : `${count} animals stay in the bin, because their categories have been deleted. Restore them there into another one.`,
  categoryTitle: "Choose a category",
  categoryText: (count: string) =>
    count === "1"
      ? "Its category has been deleted. Into which one should it return?"
      : `The categories of ${count} animals have been deleted. Into which one should they return?`,
};

/** The list of past imports and their undo, which the page of imports loads late. */
export const pastImportsTexts = {
  title: "Past imports",
  lead: "An import can be undone for 90 days: the animals that it added go, and those that it changed get their earlier values.",
  file: "File",
  from: (source: string) => `from “${source}”`,
  did: "What it did",
  created: (count: string) => `${count} new`,
  updated: (count: string) => `${count} changed`,
  unchanged: (count: string) => `${count} unchanged`,
  rejected: (count: string) => `${count} rejected`,
  noRows: "no rows",
  when: "When",
  by: { key: (id: string) => `Key ${id}`, member: () => "A former member", operator: () => "The operator", system: () => "The service" },
  state: "State",
  states: { open: "Not finished", finished: "Finished", undoing: "Being undone", undone: "Undone" },
  going: (done: string, total: string) => `${done} of ${total} animals`,
  stayed: (count: string) => (count === "1" ? "1 animal stays" : `${count} animals stay`),
  photosFailed: (count: string) => (count === "1" ? "1 photo failed" : `${count} photos failed`),
  undo: "Undo",
  undoOf: (file: string, when: string) => `Undo ${file}, ${when}`,
  tooOld: "Over 90 days old",

  undoTitle: (file: string) => `Undo the import of ${file}?`,
  undoCreated: (count: string) =>
    count === "1"
      ? "The animal that it added is deleted, with its stock, description and photos."
      : `The ${count} animals that it added are deleted, with their stock, descriptions and photos.`,
  undoUpdated: (count: string) =>
    count === "1"
      ? "The animal that it changed gets its earlier values."
      : `The ${count} animals that it changed get their earlier values.`,
  undoCategories: "The categories that it added are deleted if they are empty.",
  undoStays: "An animal stays as it is if it has orders, or if somebody has changed it since. You will see which ones.",
  undoOpen: "The import is not finished. It ends here, and its other rows are not imported.",
  undoLast: "To get the animals back, import the file again.",
  undone: (file: string) => `The import of ${file} is undone.`,
  undoneBut: (file: string, stayed: string) => `The import of ${file} is undone, but ${stayed}.`,

  details: (file: string) => `Import of ${file}`,
  staysTitle: "What the undo left as it is",
  photosTitle: "Photos that could not be fetched",
  first: (shown: string, count: string) => `The first ${shown} of ${count}.`,
};

/** Texts about importing and exporting animals that several pages show. */
export const importingTexts = {
  page: "Import",
  lead: "Load animals from a spreadsheet or a CSV file. You can load the same file again after changing it: nothing is added twice.",
  words: ["csv", "upload", "load", "file"],
  action: "Import animals",
  stop: "Stop",

  export: {
    title: "Export animals",
    words: ["csv", "download"],
    lead: "Every animal that the filters show. You can edit the CSV file in a spreadsheet and import it again: it changes the same animals.",
    all: "Every animal of the shop. You can edit the CSV file in a spreadsheet and import it again: it changes the same animals.",
    format: "Format",
    formats: { csv: "CSV, for spreadsheets", ndjson: "JSON lines, for programs" },
    start: "Export",
    done: (count: string) => `${count} animals exported.`,
    progress: (count: string) => `${count} animals so far`,
    stop: "Stop",
  },
};

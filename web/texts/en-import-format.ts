/** The texts of the choice of a file's format, which other pages do not load. */
export const formatTexts = {
  encoding: "Text encoding",
  encodings: {
    "utf-8": "UTF-8",
    "utf-16le": "UTF-16",
    "utf-16be": "UTF-16 (big-endian)",
    "windows-1252": "Windows-1252 (Western Europe)",
  },
  headerLine: "Line with the names of the columns",
  sheet: "Sheet",
  severalSheets: (count: string) => `${count} sheets of this workbook have rows. One is imported at a time.`,
  unsure: "Which of these is right?",
  unsureText: "The file does not say its encoding, and these fit about as well. Choose the one whose words you know.",
  delimiter: "Columns are separated by",
  delimiters: { ",": "Commas", ";": "Semicolons", "\t": "Tabs", "|": "Bars |" },
};

/** The texts of the search within words, below the list of animals. */
export const insideNamesTexts = {
  group: "Search further",
  search: (q: string) => `Find “${q}” inside words too`,
  title: (q: string) => `Names with “${q}” inside a word`,
  stopped: (read: string) => `${read} animals are searched so far.`,
  complete: (read: string) => `All are searched: ${read} animals.`,
  nothing: (read: string) => `None of ${read} animals has it inside a word.`,
  goOn: "Search on",
};

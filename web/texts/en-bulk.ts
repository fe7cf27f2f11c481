import { storeTexts } from "./en-store.ts";

const animals = storeTexts.animals.total;

/** The texts of the dialog that changes many animals. */
export const bulkTexts = {
  titles: {
    status: (count: string) => `Change the status of ${animals(count)}`,
    category: (count: string) => `Move ${animals(count)}`,
    track: (count: string) => `Count the stock of ${animals(count)}`,
    price: (count: string) => `Change the price of ${animals(count)}`,
    delete: (count: string) => `Delete ${animals(count)}`,
  },
  explained: {
    status: "Animals whose stock is counted keep the status that follows from it.",
    category: "You can undo this.",
    track: "From then on, nobody can order more than there is. Existing counts are replaced.",
    price: {
      set: "Every price becomes this one. You can undo this.",
      percent: "Animals without a price stay as they are. You can undo this.",
    },
    delete: "Animals with open orders stay. The others go to the bin, from where you can restore them for 30 days.",
  },
  done: {
    status: (count: string) => `The status of ${animals(count)} is changed.`,
    category: (count: string) => `${animals(count)} moved.`,
    track: (count: string) => `The stock of ${animals(count)} is counted.`,
    price: (count: string) => `The price of ${animals(count)} is changed.`,
    delete: (count: string) => (count === "1" ? "1 animal is in the bin." : `${count} animals are in the bin.`),
  },
  units: "Free units of each",
  how: "How the price changes",
  hows: { set: "Set to", raise: "Raise by", lower: "Lower by" },
  percent: "Percent",
  percentHint: "Such as 10 or 2.5. Each price is rounded to the smallest unit of its currency.",
  wrongPercent: { raise: "Write a percentage up to 1000, such as 10 or 2.5.", lower: "Write a percentage up to 100, such as 10 or 2.5." },
  progress: (done: string, count: string) => `${done} of ${count} are done`,
  interrupted: (done: string, count: string) => `${done} of ${count} are done. The others are as they were.`,
  refused: (count: string) => `${count} stayed as they were`,
  more: (count: string) => `${count} more`,
  undoing: (done: string, count: string) => `${done} of ${count} are undone`,
  undone: "Everything is as it was before.",
  changedSince: (count: string) =>
    count === "1"
      ? "1 animal stays as it is: somebody has changed it since. The others are as they were before."
      : `${count} animals stay as they are: somebody has changed them since. Any others are as they were before.`,
  notUndone: (count: string) => `${count} could not be changed back.`,
};

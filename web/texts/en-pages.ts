/** The texts about the pages of the shop's own, which only the form of a shop loads. */
export const pagesTexts = {
  title: "Pages",
  hint: "Such as who you are, how adoption works, or your imprint. Your shop links them. Text may have # headings, **bold**, - lists and [links](https://example.com).",
  pageTitle: "Title",
  titleOf: (place: number) => `Title of page ${place}`,
  example: "About us",
  text: "Text",
  textOf: (place: number) => `Text of page ${place}`,
  remove: "Remove",
  removeOf: (place: number) => `Remove page ${place}`,
  add: "Add a page",
};

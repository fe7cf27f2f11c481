export const shortcutsTexts = {
  title: "Keyboard shortcuts",
  everywhere: "On every page",
  search: "Search and go to a page",
  shortcuts: "Show these shortcuts",
  inSearch: "In the search",
  choose: "Choose a result",
  open: "Open it",
  inDialogs: "In a dialog",
  close: "Close it",
  inReference: "In the API reference",
  send: "Send the request whose body you are typing",
  or: "or",
};

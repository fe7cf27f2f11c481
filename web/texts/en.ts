import { dashboardTexts, signInTexts } from "./en-dashboard.ts";
import { homeTexts } from "./en-home.ts";
import { importingTexts } from "./en-importing.ts";
import { keysTexts } from "./en-keys.ts";
import { accountTexts } from "./en-members.ts";
import { projectsTexts } from "./en-projects.ts";
import { refusalTexts } from "./en-refusals.ts";
import { storeTexts } from "./en-store.ts";
import { usageTexts } from "./en-usage.ts";

export const en = {
  productName: "Pet Store",
  skipToContent: "Skip to content",
  mainNavigation: "Main",
  closeMenu: "Close the menu",
  search: "Search",
  toDark: "Switch to dark mode",
  toLight: "Switch to light mode",
  toSystem: "Use the colours of this device",
  loading: "Loading",
  copy: "Copy",
  copied: "Copied",
  retry: "Try again",
  requestId: "Request id",
  reference: "API reference",

  refusals: refusalTexts,
  dashboard: dashboardTexts,
  signIn: signInTexts,
  account: accountTexts,
  keys: keysTexts,
  usage: usageTexts,
  home: homeTexts,
  store: storeTexts,
  importing: importingTexts,
  projects: projectsTexts,

  palette: {
    title: "Search and go to",
    placeholder: "Type a name, a number or a word …",
    nothing: "Nothing matches. Try another word, such as stock.",
    searching: "Searching …",
    colours: "Colours",
    words: ["theme", "dark mode", "light mode", "colours"],
    pages: "Pages",
  },

  notFound: {
    title: "Page not found",
    text: "The address may be mistyped, or the page may have moved.",
    operation: (id: string) => `There is no operation ${id}.`,
    toReference: "Go to the API reference",
  },

  failure: {
    title: "This page could not be shown",
    broken: "Part of it did not load, or failed. Check the connection and try again.",
    description: "The description of the API could not be loaded. The service may be restarting.",
  },

  start: {
    page: "Start",
    title: "A shop’s back end, with an exactly described API",
    lead: "Animals, categories, orders, and stock that is never sold twice. Create an account on the command line, then call the API.",
    dashboard: "Open the dashboard",
    reference: "Open the API reference",
    description: "Download openapi.json",
    stepsTitle: "The first requests",
    keyTitle: "Create an account and its key",
    keyText: "The very first start of the service prints a key. Another account is one command away:",
    createTitle: "Add an animal to the catalogue",
    createText: "Every animal belongs to a category, so create one first:",
    stockTitle: "Count the stock, sell it once",
    stockText: "From the first count on, orders are limited by stock; the second of these two is refused with insufficient_stock:",
  },
};

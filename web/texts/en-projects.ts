import { shopTexts } from "./en-shop.ts";

export const projectsTexts = {
  shop: shopTexts,
  page: "Projects",
  lead: "Your websites: each has its own address, and can have your own domains.",
  words: ["publish", "websites", "sites", "versions", "deploy", "deployments", "upload"],
  new: "New project",
  table: "Projects",
  name: "Name",
  address: "Address",
  state: "State",
  live: "Live",
  deployment: (id: number) => `Version ${id}`,
  nothingDeployed: "Nothing published",
  opensAnew: "opens in a new tab",
  domains: "Domains",
  settings: "Settings",

  emptyTitle: "No projects yet",
  emptyText: "Create a project first: it gets an address. Then publish your shop there, or your own website.",

  create: "Create the project",
  firstNameHint: "Your shop begins with this name.",
  nameHint: "For you and your colleagues; visitors do not see it.",
  slug: "Web address",
  slugHint: "The part before the first dot: lower-case letters, digits and hyphens.",
  makeTitle: "Create a project",

  notFound: "There is no such project. It may have been deleted.",
  trail: "All projects",
  parts: "Project",
  deployments: "Versions",
  general: "General",

  list: {
    title: "Versions",
    lead: "Each upload, and each change to your shop or its logo, makes a new version, which goes live as soon as it is ready. The last 10 are kept: you can look at each of them, and make any ready one live again. Your domains stay as they are.",
    label: "Versions, newest first",
    emptyTitle: "Nothing published yet",
    emptyText: "Once a version is ready, visitors see it at the address above.",
    status: { queued: "Getting ready", ready: "Ready", failed: "Failed" },
    files: (count: string, isOne: boolean) => (isOne ? `${count} file` : `${count} files`),
    whyFailed: "Why it failed",
    own: (id: number) => `Look at version ${id}`,
    promote: "Make live",
    promoteOf: (id: number) => `Make live: version ${id}`,
    promoted: (id: number) => `Version ${id} is live.`,
  },

  upload: {
    title: "Upload your own website",
    drop: "Drop a folder or a .zip here",
    folder: "Choose a folder",
    archive: "Choose an archive",
    needs: "The folder needs a file petstore.json, which may hold just {}.",
    hint: (files: string, file: string, all: string, packed: string) =>
      `At most ${files} files, ${file} a file, ${all} in all, ${packed} packed. Without node_modules and hidden files except .well-known.`,
    fromTerminal: "From a terminal instead",
    terminalHint: "For developers: set PETSTORE_KEY to a key with the scopes publishing:read and publishing:write.",
    toKeys: "Go to the keys",
    packing: "Packing the folder",
    sending: "Uploading",
    percent: (part: string, step: string) => `${step}: ${part}`,
    unpacking: (id: number) => `Version ${id} is getting ready …`,
    leftOut: (paths: string) => `Not published: ${paths}.`,
    ready: (id: number) => `Version ${id} is live.`,
    readyButNotLive: (id: number) => `Version ${id} is ready.`,
    failed: (id: number) => `Version ${id} failed`,
    gone: "This version is no longer kept.",
    stop: "Stop",

    empty: "The folder is empty, or has only hidden files.",
    tooManyFiles: (most: string) => `The folder has more than ${most} files, the most that a version may have.`,
    tooLarge: (most: string) => `The folder is larger than ${most}, the most that a version may have.`,
    tooLargePacked: (most: string) => `Packed, this is larger than ${most}, the most that a version may have.`,
    largeFile: (path: string, most: string) => `${path} is larger than ${most}, the most that a file may have.`,
    changed: (path: string) => `${path} was changed while it was being read.`,
    noProjectFile: (nested: string | undefined) =>
      nested === undefined
        ? "The folder has no file petstore.json. Create one beside index.html: it may hold just {}."
        : `The folder has no file petstore.json, but there is ${nested}: choose that folder instead.`,
    notJson: (why: string) => `petstore.json is not JSON: ${why}`,
    notArchive: (name: string) => `${name} is neither a zip file nor a gzipped tar. Compress the folder again.`,
    neither: (name: string) => `${name} is neither a folder nor a .zip, .tar.gz or .tgz.`,
    nothingDropped: "That was neither a folder nor a file.",
    timedOut: "The upload took longer than 15 minutes and was stopped.",
  },

  naming: {
    title: "Name and address",
    lead: "The name is for you and your colleagues. Visitors see the address: a new one works as soon as you save it, and the old one stops working.",
    save: "Save",
    saved: "Saved.",
  },

  addresses: {
    title: "Address for visitors",
    current: "Your shop’s address:",
    isPrimary: "It is the project’s main domain.",
    isPlatform: "This service gave it to you. To use your own domain, make it the main domain.",
    waiting: (name: string) => `It changes to ${name} as soon as that domain is ready.`,
    toDomains: "Go to the domains",
    noDomains: "The account’s plan has no custom domains. They come with the Pro plan and above.",
    otherPorts: "It has no effect here: this service does not use the standard web ports, 80 and 443.",
    noHsts: "It has no effect: the account’s plan has no custom domains.",
    noPrimary: {
      none: () => "It has no effect yet: the project has no main domain. Choose one on the Domains page first.",
      waiting: (name: string) => `It has no effect yet: ${name} is not ready. The Domains page shows what it is waiting for.`,
      noDomains: () => "It has no effect: the account’s plan has no custom domains.",
    },
    switches: {
      redirectToPrimary: {
        label: "Send visitors of all other addresses to the main domain",
        about: "Visitors who open another of your domains, or the address from this service, are sent to the same page at the main domain.",
      },
      hsts: {
        label: "Let browsers open your domains over secure connections only",
        about:
          "A browser that has visited a domain opens it with https:// only: for a day in the domain’s first week, then for a year (HSTS).",
      },
    },
  },

  deleting: {
    title: "Delete the project",
    lead: "Its address and its domains stop working, and all its versions are gone. This cannot be undone.",
    action: "Delete the project",
    ask: (name: string) => `Delete ${name}?`,
    stops: "This happens at once, and cannot be undone:",
    address: (slug: string) => `Its address stops working. The name in it, ${slug}, is kept for you for 30 days.`,
    domains: (names: string) => `The domains are removed: ${names}.`,
    moreDomains: (count: string) => `and ${count} more`,
    deployments: (count: string, isOne: boolean) => (isOne ? `${count} version is deleted.` : `${count} versions are deleted.`),
    type: (name: string) => `Type ${name} to confirm`,
    done: (name: string) => `${name} is deleted.`,
  },
};

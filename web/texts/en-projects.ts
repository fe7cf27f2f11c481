import { shopTexts } from "./en-shop.ts";

export const projectsTexts = {
  shop: shopTexts,
  page: "Projects",
  lead: "Sites published from a folder: each has its own address, and can have your own domains.",
  words: ["publish", "sites", "deploy", "deployments", "upload"],
  new: "New project",
  table: "Projects",
  name: "Name",
  address: "Address",
  state: "State",
  live: "Live",
  deployment: (id: number) => `Deployment ${id}`,
  nothingDeployed: "Nothing deployed",
  opensAnew: "opens a new tab",
  domains: "Domains",
  settings: "Settings",

  emptyTitle: "No projects yet",
  emptyText: "Create a project first: it gets an address. Then deploy a folder to it, here by drag and drop or from a terminal.",

  create: "Create the project",
  nameHint: "For you and your colleagues; visitors do not see it.",
  slug: "Slug",
  slugHint: "The first part of its address: lower-case letters, digits and hyphens.",
  makeTitle: "Create a project",

  notFound: "There is no such project. It may have been deleted.",
  trail: "All projects",
  parts: "Project",
  deployments: "Deployments",
  general: "General",

  list: {
    title: "Deployments",
    lead: "The last 10 are kept, each with an address of its own to look at; each change of your shop or its logo here is one of them. A new one is served as soon as it is ready, and any ready one can be promoted again. Promoting leaves the project’s domains as they are.",
    label: "Deployments, newest first",
    emptyTitle: "Nothing deployed yet",
    emptyText: "Once a deployment is ready, it is served at the address above.",
    status: { queued: "Unpacking", ready: "Ready", failed: "Failed" },
    files: (count: string, isOne: boolean) => (isOne ? `${count} file` : `${count} files`),
    whyFailed: "Why it failed",
    own: (id: number) => `Look at deployment ${id}`,
    promote: "Promote",
    promoteOf: (id: number) => `Promote deployment ${id}`,
    promoted: (id: number) => `Deployment ${id} is live.`,
  },

  upload: {
    title: "Deploy",
    drop: "Drop a folder or a .tar.gz here",
    folder: "Choose a folder",
    archive: "Choose an archive",
    hint: (files: string, file: string, all: string, packed: string) =>
      `With petstore.json at its top; {} is enough. At most ${files} files, ${file} a file, ${all} in all, ${packed} packed. Hidden files and node_modules stay out.`,
    fromTerminal: "From a terminal instead",
    terminalHint:
      "Run it where the service is installed, with PETSTORE_KEY set to a key with the scopes publishing:read and publishing:write.",
    toKeys: "To the keys",
    packing: "Packing the folder",
    sending: "Uploading",
    percent: (part: string, step: string) => `${step}: ${part}`,
    unpacking: (id: number) => `Deployment ${id} is being unpacked …`,
    ready: (id: number) => `Deployment ${id} is live.`,
    readyButNotLive: (id: number) => `Deployment ${id} is ready.`,
    failed: (id: number) => `Deployment ${id} failed`,
    gone: "The deployment is no longer kept.",
    stop: "Stop",

    empty: "The folder is empty, or holds hidden files only.",
    tooManyFiles: (most: string) => `The folder has more than ${most} files, the most that a deployment may have.`,
    tooLarge: (most: string) => `The folder is larger than ${most}, the most that a deployment may have.`,
    tooLargePacked: (most: string) => `Packed, this is larger than ${most}, the most that a deployment may have.`,
    largeFile: (path: string, most: string) => `${path} is larger than ${most}, the most that a file may have.`,
    changed: (path: string) => `${path} was changed while it was read.`,
    noProjectFile: (nested: string | undefined) =>
      nested === undefined
        ? "The folder has no petstore.json at its top. Create one beside index.html: {} is enough."
        : `The folder has no petstore.json at its top, but there is ${nested}: choose that folder instead.`,
    notJson: (why: string) => `petstore.json is not JSON: ${why}`,
    notGzip: (name: string) => `${name} is not a gzipped tar. Pack it with tar -czf.`,
    neither: (name: string) => `${name} is neither a folder nor a .tar.gz or .tgz.`,
    nothingDropped: "That was neither a folder nor a file.",
    timedOut: "The upload took longer than 15 minutes and was stopped.",
  },

  naming: {
    title: "Name and address",
    lead: "The new address works at once, and the old one stops working.",
    save: "Save",
    saved: "Saved.",
  },

  addresses: {
    title: "Address for visitors",
    current: "Your shop’s address:",
    isPrimary: "It is the project’s primary domain.",
    isPlatform: "It is the address on the platform. To use a domain of your own, make one primary.",
    waiting: (name: string) => `It changes to ${name} as soon as that domain is verified and has its certificate.`,
    toDomains: "To the domains",
    noDomains: "The account’s plan has no custom domains. They come with the Pro plan and above.",
    otherPorts: "It has no effect here: this service does not use the standard web ports, 80 and 443.",
    noHsts: "It has no effect: the account’s plan has no custom domains.",
    noPrimary: {
      none: () => "It has no effect yet: the project has no primary domain. Choose one on the Domains page first.",
      waiting: (name: string) => `It has no effect yet: ${name} is not ready. The Domains page shows what it is waiting for.`,
      noDomains: () => "It has no effect: the account’s plan has no custom domains.",
    },
    switches: {
      redirectToPrimary: {
        label: "Send visitors of all other names to the primary address",
        about: "Visitors who open another domain, or the address on the platform, are sent to the same page at the primary address.",
      },
      hsts: {
        label: "Let browsers open your domains over HTTPS only",
        about:
          "A browser that has visited a domain opens it over HTTPS only: for a day in the domain’s first week, then for a year (HSTS).",
      },
    },
  },

  deleting: {
    title: "Delete the project",
    lead: "Its address and its domains stop being served, and its deployments are gone. This cannot be undone.",
    action: "Delete the project",
    ask: (name: string) => `Delete ${name}?`,
    stops: "This stops at once, and cannot be undone:",
    address: (slug: string) =>
      `Its address on the platform is not served any more. Its slug, ${slug}, is kept for your account for 30 days.`,
    domains: (names: string) => `The domains are removed: ${names}.`,
    moreDomains: (count: string) => `and ${count} more`,
    deployments: (count: string, isOne: boolean) => (isOne ? `${count} deployment is deleted.` : `${count} deployments are deleted.`),
    type: (name: string) => `Type ${name} to confirm`,
    done: (name: string) => `${name} is deleted.`,
  },
};

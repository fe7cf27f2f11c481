/** Suites that run on the same engines for the same reason; the names are those of files in test/, without `.test.ts`. */
type Group = { engines: "both" | "sqlite" | "own"; reason: string; suites: string[] };

/**
 * The engines that each black-box suite runs on: SQLite and PostgreSQL, SQLite, or those that the suite starts itself. What only
 * reads or writes HTTP, DNS or ACME runs once. A new suite that starts a service needs a line here, which suites.test.ts checks.
 */
export const groups: Group[] = [
  {
    engines: "both",
    reason: "lists, filters and look-ups by many identifiers have SQL of their own on each engine",
    suites: ["catalogue", "isolation", "paging", "stock-status", "usage", "write-back"],
  },
  {
    engines: "both",
    reason: "text and numbers at the ends of their ranges: the engines order, fold and store them differently",
    suites: ["hostile"],
  },
  {
    engines: "both",
    reason: "requests at once: SQLite has one writer, PostgreSQL locks rows and repeats transactions",
    suites: [
      "conditions",
      "dashboard",
      "domain-ownership",
      "domain-races",
      "domain-redirects",
      "idempotency",
      "keys-and-scopes",
      "limits",
      "primary-names",
      "projects",
      "sign-in",
      "stock",
      "stock.model",
      "storage-limits",
    ],
  },
  {
    engines: "both",
    reason: "uploads and published files are in a folder, or in the database that nodes share",
    suites: ["content-sweep", "deployments", "published-bytes", "publishing", "uploads"],
  },
  {
    engines: "both",
    reason: "due checks, orders and renewals are leased from the database, and survive a restart there",
    suites: ["certificates", "domains"],
  },
  {
    engines: "own",
    reason: "nodes, locks and failures of PostgreSQL, whichever engine the run is on",
    suites: ["locked-row", "nodes", "postgres", "publishing-node-ends", "publishing-nodes", "tls-to-stores"],
  },
  {
    engines: "sqlite",
    reason: "kills, damaged files and starts of the process with the embedded database",
    suites: ["durability", "end-to-end", "failed-flush", "letting-go", "operations", "order-killed", "start-failures"],
  },
  {
    engines: "sqlite",
    reason: "HTTP: what is said of a request before storage, or of its answer after",
    suites: [
      "bodies",
      "client-limits",
      "connections",
      "conventions",
      "cors",
      "description",
      "details",
      "error-examples",
      "examples",
      "generated-clients",
      "headers",
      "hostile-texts",
      "limits-headers",
      "metrics",
      "order-of-refusals",
      "preconditions",
      "refusals-cost",
      "request-ids",
      "requests-in-flight",
      "security-text",
      "session-cookies",
      "wire",
    ],
  },
  {
    engines: "sqlite",
    reason: "DNS, the authority and the edge: what is stored is the same as in the suites that run on both",
    suites: [
      "authority-faults",
      "domain-challenges",
      "domain-dns-faults",
      "domain-dns-turns",
      "domain-input",
      "domain-plans",
      "domain-reverify",
      "domains-end-to-end",
      "hostile-names",
      "hosts",
      "hsts",
      "published-sites-apart",
      "renewals",
    ],
  },
  {
    engines: "sqlite",
    reason: "commands and the client, which know the API alone",
    suites: ["import", "init", "publishing-commands"],
  },
  {
    engines: "sqlite",
    reason: "pages in a browser, which know the API alone",
    suites: [
      "dashboard-account",
      "dashboard-addresses",
      "dashboard-animals",
      "dashboard-domains",
      "dashboard-focus",
      "dashboard-hostile-names",
      "dashboard-importing",
      "dashboard-keys",
      "dashboard-long-lists",
      "dashboard-orders",
      "dashboard-outages",
      "dashboard-projects",
      "dashboard-publishing",
      "dashboard-sign-in",
      "dashboard-store-pages",
      "dashboard-strangers",
      "dashboard-usage",
      "dashboard-weight",
      "web-files",
      "web-pages",
      "web-published-reference",
      "web-starter",
      "web-try-it",
    ],
  },
];

/** Black-box suites without a browser, an authority or processes, for the inner loop. */
export const quickSuites: string[] = [
  "catalogue",
  "client",
  "conditions",
  "conventions",
  "cors",
  "dashboard",
  "db.contract",
  "details",
  "headers",
  "isolation",
  "limits-headers",
  "order-of-refusals",
  "paging",
  "stock",
  "stock-status",
  "write-back",
];

/** Suites that search for faults by random or many tries: a few of them in `npm test`, all in `npm run test:faults`. */
export const faultSuites: string[] = ["durability", "hostile", "hostile-texts", "published-bytes", "stock.model", "storage-limits"];

export const fileOf = (suite: string): string => `test/${suite}.test.ts`;

/** The files that also run on PostgreSQL. */
export const postgresFiles = (): string[] => groups.filter(({ engines }) => engines === "both").flatMap(({ suites }) => suites.map(fileOf));

import { fileOf } from "./suite-engines.ts";

/** Black-box suites without a browser, an authority or processes, for the inner loop. */
export const quickSuites: string[] = [
  "catalogue",
  "client",
  "conditions",
  "conventions",
  "cors",
  "dashboard",
  "db.contract",
  "db.contract-values",
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

/** Suites that search for faults by random or many tries: a few tries in `npm test`, all in `npm run test:faults`. */
export const faultSuites: string[] = [
  "authority-faults",
  "backup-contents",
  "backup-input",
  "backup-killed",
  "certificates",
  "domain-races",
  "webhooks-killed",
  "webhooks-nodes",
  "dry-run",
  "durability",
  "events-tampered",
  "hostile",
  "hostile-texts",
  "list-plans",
  "move-killed",
  "order-killed",
  "paging",
  "published-bytes",
  "secrets",
  "stock.model",
  "storage-limits",
  "storage-quotas",
  "upgrade",
  "web-pages",
];

/** Suites that take less time than a process of their own. They start their services in it, and leave the process as it was. */
export const sharingSuites: string[] = [
  "bodies",
  "browser-sessions",
  "catalogue",
  "client-limits",
  "conditions",
  "connections",
  "content-sweep",
  "conventions",
  "cors",
  "dashboard",
  "described-answers",
  "described-operations",
  "description",
  "details",
  "dry-run",
  "events-api",
  "events-tampered",
  "events-verified",
  "events",
  "guides",
  "headers",
  "hosts",
  "isolation",
  "keys-and-scopes",
  "limits-headers",
  "limits",
  "mcp",
  "order-history",
  "order-of-refusals",
  "paging",
  "pet-changes",
  "pipelining",
  "profiles",
  "published-bytes",
  "refusals-cost",
  "second-factors",
  "security-text",
  "sign-in",
  "storage-limits",
  "storage-quotas",
  "storefront-settings",
  "storefront",
  "tracing",
  "usage",
  "webhooks",
  "wire",
  "write-back",
];

/** The suites that take longest, each before shorter ones. */
export const longSuites: string[] = [
  "hostile",
  "backup-stopped",
  "rolling",
  "publishing-nodes",
  "publishing-node-ends",
  "workers",
  "hostile-texts",
  "examples",
  "dashboard-animals",
  "dashboard-domains",
  "dashboard-long-lists",
  "dashboard-projects",
  "publishing-work",
  "photos",
  "dashboard-importing",
  "dashboard-usage",
  "webhook-endpoints",
  "dashboard-keys",
  "move",
  "secrets",
  "list-plans",
  "dashboard-shop",
  "dashboard-account",
  "certificates",
  "jobs",
  "dashboard-accounts",
  "authority-faults",
  "backup-contents",
  "backup-encrypted",
  "backup-input",
];

/**
 * The jobs in the order in which a run starts them: those with several files, then the long suites, then the others by their names. A long
 * job that starts last leaves a core idle at the end of a run.
 */
export function longestFirst<Job extends { files: string[] }>(jobs: Job[]): Job[] {
  const long = longSuites.map(fileOf);
  const place = ({ files: [first = "", ...others] }: Job): number => {
    if (others.length > 0) return -1;
    return long.includes(first) ? long.indexOf(first) : long.length;
  };
  return jobs.toSorted((a, b) => place(a) - place(b) || a.files[0]!.localeCompare(b.files[0]!));
}

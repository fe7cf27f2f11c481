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

/** Suites that share a process, which loads what they import once. They start their services in it, and leave it as it was. */
export const sharingSuites: string[] = [
  "audit",
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
  "domain-changes",
  "domain-links",
  "domain-ownership",
  "dry-run",
  "events",
  "events-api",
  "events-tampered",
  "events-verified",
  "guides",
  "headers",
  "hosts",
  "idempotency",
  "isolation",
  "kept-pictures",
  "key-changes",
  "keys-and-scopes",
  "limits",
  "limits-headers",
  "limits-shared",
  "mcp",
  "metrics",
  "order-history",
  "order-of-refusals",
  "paging",
  "pet-changes",
  "pipelining",
  "profiles",
  "projects",
  "published-bytes",
  "publishing",
  "refusals-cost",
  "search",
  "second-factors",
  "security-text",
  "sign-in",
  "stock",
  "stock-status",
  "stock.model",
  "storage-limits",
  "storage-quotas",
  "storefront",
  "storefront-settings",
  "tracing",
  "uploads",
  "usage",
  "webhooks",
  "wire",
  "write-back",
];

/** The suites in a process of their own that take longest, each before shorter ones. */
export const longSuites: string[] = [
  "hostile",
  "backup-stopped",
  "rolling",
  "publishing-nodes",
  "publishing-node-ends",
  "workers",
  "hostile-texts",
  "examples",
  "publishing-work",
  "photos",
  "webhook-endpoints",
  "move",
  "secrets",
  "list-plans",
  "certificates",
  "jobs",
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

import type { Metric } from "./metrics.ts";

/** How a fault shows: `sign` is what is wrong, `readyz` the answer of the probe, `effect` what clients get, and `remedy` what to do and how it ends. */
type FaultText = { sign: string; readyz: string; effect: string; remedy: string };

/**
 * What can be wrong with the machine below a node while its process runs. Each fault has a line in the log when it begins and when it ends, a label of
 * `petstore_fault`, a reason in /readyz and a finding of `petstore doctor`. The guide for operators has the same table.
 */
export const faultTable = {
  data_disk: {
    sign: "less than 1 MiB free in `DATA_DIR`",
    readyz: "503; with PostgreSQL 200 with a warning",
    effect: "writes get 503, reads go on",
    remedy: "make room; the service recovers within a second",
  },
  database_writes: {
    sign: "the database takes no writes (a full disk, of PostgreSQL's server too), or this node has no lease",
    readyz: "503",
    effect: "writes get 503, reads go on",
    remedy: "check the disk, its limits and PostgreSQL; the service recovers without a restart",
  },
  database_damage: {
    sign: "a damaged page, or a file of the database was removed, moved, replaced or cut short",
    readyz: "503",
    effect: "writes get 503, requests that need a damaged page get 500, other reads go on",
    remedy: "do what the reason says: put the file back or restore a backup, and restart the service",
  },
  database_rewound: {
    sign: "PostgreSQL lacks writes that it had acknowledged, after a failover or the return of an older copy",
    readyz: "503",
    effect: "writes get 503, reads go on",
    remedy: "`petstore verify` says what was lost; `petstore accept-state --yes` lets all nodes go on",
  },
  folder_lock: {
    sign: "`petstore.lock` was removed or replaced",
    readyz: "503",
    effect: "writes get 503, reads go on",
    remedy: "stop every service that uses the folder, and start one",
  },
  published_files: {
    sign: "a published file is missing or has another size",
    readyz: "200 with a warning",
    effect: "its visitors get 500",
    remedy: "put it back or deploy again; the service checks for it every second",
  },
  folder_files: {
    sign: "`secrets.key`, the socket of the commands or `content` was removed",
    readyz: "200 with a warning",
    effect: "the reason says",
    remedy: "put it back; for the socket, restart the service",
  },
  log: {
    sign: "standard output takes no lines, or is a file that was removed",
    readyz: "200 with a warning",
    effect: "lines are lost and counted",
    remedy: "make room; the service recovers without a restart",
  },
  clock: {
    sign: "the clock jumped, or differs from the database's, by over a minute",
    readyz: "200 with a warning",
    effect: "the service goes on with the time without the jump, and deletes nothing because of its age",
    remedy: "set the clock (docs/operating.md, “Clocks”)",
  },
} satisfies Record<string, FaultText>;

export type FaultKind = keyof typeof faultTable;
const kinds = Object.keys(faultTable) as FaultKind[];

type Fault = {
  /** Short text for /readyz. */
  reason: string;
  /** Whether the node should get no requests: its store cannot take writes. */
  isRefusing: boolean;
};

/** The faults of this process now. */
export type Faults = {
  /** Begins a fault, or gives it another reason. The log has one line when it begins and one when it ends. */
  begin(kind: FaultKind, fault: Fault): void;
  end(kind: FaultKind): void;
  has(kind: FaultKind): boolean;
  /** The reason for which this node should get no requests; undefined if there is none. */
  refusal(): string | undefined;
  /** The reasons of the other faults. */
  warnings(): string[];
  kinds(): FaultKind[];
  metrics(): Metric[];
};

type FaultLog = { error(fields: object, text: string): void; info(fields: object, text: string): void };

export function openFaults(log: FaultLog): Faults {
  const current = new Map<FaultKind, Fault>();
  const begun = new Map<FaultKind, number>(kinds.map((kind) => [kind, 0]));
  return {
    begin(kind, fault) {
      if (!current.has(kind)) {
        begun.set(kind, begun.get(kind)! + 1);
        log.error({ fault: kind, reason: fault.reason }, "a fault began");
      }
      current.set(kind, fault);
    },
    end(kind) {
      if (current.delete(kind)) log.info({ fault: kind }, "a fault ended");
    },
    has: (kind) => current.has(kind),
    refusal: () => current.values().find(({ isRefusing }) => isRefusing)?.reason,
    warnings: () => [...current.values()].filter(({ isRefusing }) => !isRefusing).map(({ reason }) => reason),
    kinds: () => [...current.keys()],
    metrics: () => [
      {
        name: "petstore_fault",
        type: "gauge",
        help: "Whether this node has a fault now, by kind of fault.",
        samples: kinds.map((fault) => ({ labels: { fault }, value: current.has(fault) ? 1 : 0 })),
      },
      {
        name: "petstore_faults_total",
        type: "counter",
        help: "Faults that began, by kind of fault.",
        samples: [...begun].map(([fault, value]) => ({ labels: { fault }, value })),
      },
    ],
  };
}

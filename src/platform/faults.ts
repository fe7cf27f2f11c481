import type { Metric } from "./metrics.ts";

/** What can be wrong with the machine below a node while its process runs. */
const kinds = [
  "data_disk",
  "database_writes",
  "database_damage",
  "folder_lock",
  "published_files",
  "folder_files",
  "log",
  "clock",
] as const;
type FaultKind = (typeof kinds)[number];

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

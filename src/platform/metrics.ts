import { performance } from "node:perf_hooks";

/** A figure with its labels, which never name an account, a key or an address. */
type Sample = { labels?: Record<string, string>; value: number; suffix?: "_bucket" | "_sum" | "_count" };

export type Metric = { name: string; type: "counter" | "gauge" | "histogram" | "summary"; help: string; samples: Sample[] };

/** Metrics in the text format of Prometheus, version 0.0.4. */
export function renderMetrics(metrics: Metric[]): string {
  return metrics.map((metric) => `# HELP ${metric.name} ${metric.help}\n# TYPE ${metric.name} ${metric.type}\n${lines(metric)}`).join("");
}

export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

function lines({ name, samples }: Metric): string {
  return samples.map(({ labels, value, suffix = "" }) => `${name}${suffix}${labelsText(labels)} ${numberText(value)}\n`).join("");
}

function labelsText(labels: Record<string, string> = {}): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escape(text)}"`);
  return pairs.length > 0 ? `{${pairs.join(",")}}` : "";
}

function escape(text: string): string {
  return text
    .replaceAll("\\", String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll("\n", String.raw`\n`);
}

function numberText(value: number): string {
  return value === Infinity ? "+Inf" : String(value);
}

/** Counts values into buckets. `bounds` are the upper ends of all buckets but the last, in the metric's unit. */
export type Histogram = {
  observe: (value: number) => void;
  metric: (name: string, help: string, labels?: Record<string, string>) => Metric;
};

/** The upper ends (s) of the buckets for waits for a connection. */
export const waitBounds = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5];

export function openHistogram(bounds: readonly number[]): Histogram {
  const counts = [...bounds, Infinity].map(() => 0);
  let sum = 0;
  return {
    observe(value) {
      let i = 0;
      while (i < bounds.length && value > bounds[i]!) i++;
      counts[i]! += 1;
      sum += value;
    },
    metric(name, help, labels = {}) {
      let below = 0;
      const buckets = counts.map((count, i): Sample => {
        below += count;
        return { suffix: "_bucket", labels: { ...labels, le: numberText(bounds[i] ?? Infinity) }, value: below };
      });
      const ends: Sample[] = [
        { suffix: "_sum", labels, value: sum },
        { suffix: "_count", labels, value: below },
      ];
      return { name, type: "histogram", help, samples: [...buckets, ...ends] };
    },
  };
}

/** Memory, CPU time and load of the process. */
export function processMetrics(): Metric[] {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return [
    counter("process_cpu_seconds_total", "Processor time used.", (user + system) / 1e6),
    gauge("process_resident_memory_bytes", "Memory held.", rss),
    gauge("process_start_time_seconds", "When the process began, in Unix seconds.", performance.timeOrigin / 1000),
    gauge("nodejs_heap_used_bytes", "Memory of live JavaScript objects.", heapUsed),
    gauge(
      "nodejs_eventloop_utilization_ratio",
      "Share of the time since its start that the event loop was busy.",
      performance.eventLoopUtilization().utilization,
    ),
  ];
}

/** A counter without labels, which only grows while the process runs. */
export function counter(name: string, help: string, value: number): Metric {
  return { name, help, type: "counter", samples: [{ value }] };
}

/** A gauge without labels. */
export function gauge(name: string, help: string, value: number): Metric {
  return { name, help, type: "gauge", samples: [{ value }] };
}

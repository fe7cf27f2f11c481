import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { measureCosts, type MeasuredCosts } from "./measure.ts";
import { assumed, clusterFor, costOf, postgresCores, simulate, usageRowsPerSecond, zipfShares, type Load } from "./model.ts";

const costsPath = fileURLToPath(new URL("costs.json", import.meta.url));
const documentPath = fileURLToPath(new URL("../../docs/scaling.md", import.meta.url));

/** The requests of a busy shop. */
const mix = {
  "`GET /pets/{id}`": 0.7,
  "`GET /pets`, 20 of them": 0.2,
  "`POST /store/orders`": 0.08,
  "`POST /store/orders` with an `Idempotency-Key`": 0.02,
};
const skew = 0.8;
const sizes = [1_000, 10_000, 100_000, 1_000_000];
const simulated = 200_000;
const seed = 12;

/** Measures the costs, simulates the clusters, and writes the tables into `docs/scaling.md` and to standard output. */
export async function reportScaling(): Promise<void> {
  writeFileSync(costsPath, `${JSON.stringify(rounded(await measureCosts()), undefined, 2)}\n`);
  const tables = scalingTables(readCosts());
  let text = readFileSync(documentPath, "utf8");
  for (const [name, lines] of Object.entries(tables)) {
    const place = new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- end of ${name} -->)`);
    if (!place.test(text)) throw new Error(`docs/scaling.md has no place for ${name}`);
    text = text.replace(place, (_, begin: string, end: string) => `${begin}${lines}\n${end}`);
    console.log(`\n${lines}`);
  }
  writeFileSync(documentPath, text);
}

/** The costs that the last measurement found. */
export function readCosts(): MeasuredCosts {
  return JSON.parse(readFileSync(costsPath, "utf8")) as MeasuredCosts;
}

/** The tables of `docs/scaling.md` by the names of their placeholders. The same costs give the same tables. */
export function scalingTables(costs: MeasuredCosts): Record<string, string> {
  return { costs: costTable(costs), walls: wallTable(costs), clusters: clusterTable(costs), summary: summary(costs) };
}

function costTable({ kinds, idle, idleNodeUs, usageRowUs }: MeasuredCosts): string {
  const heading = ["request", "node", "PostgreSQL", "statements", "bytes", "Redis", "commands", "bytes"];
  const rows = Object.entries(kinds).map(([name, cost]) => [
    name,
    `${cost.nodeUs.toFixed(0)} µs`,
    `${cost.postgresUs.toFixed(0)} µs`,
    cost.statements.toFixed(1),
    cost.postgresBytes.toFixed(0),
    `${cost.redisUs.toFixed(0)} µs`,
    cost.redisCommands.toFixed(1),
    cost.redisBytes.toFixed(0),
  ]);
  const node = [
    "a second of a node without requests",
    "",
    us(idleNodeUs),
    idle.statementsPerSecond.toFixed(0),
    "",
    "",
    idle.redisCommandsPerSecond.toFixed(0),
    "",
  ];
  return table(heading, [...rows, node, ["a row of usage that a node saves", "", us(usageRowUs), "", "", "", "", ""]]);
}

function wallTable(costs: MeasuredCosts): string {
  const cost = costOf(costs, mix);
  const { busyMax, postgresCores: cores } = assumed;
  const largest = zipfShares(sizes.at(-1)!, skew)[0]!;
  return table(
    ["what is full first", "at"],
    [
      ["one node (one core)", `${count((busyMax * 1e6) / cost.nodeUs)} requests a second`],
      ["one Redis (one core)", `${count((busyMax * 1e6) / cost.redisUs)} requests a second`],
      [`one PostgreSQL (${cores} cores), requests alone`, `${count((busyMax * cores * 1e6) / cost.postgresUs)} requests a second`],
      [`a tenth of that PostgreSQL for the leases of nodes`, `${count((0.1 * cores * 1e6) / costs.idleNodeUs)} nodes`],
      [`the largest of ${count(sizes.at(-1)!)} accounts`, `${(largest * 100).toFixed(1)} % of all requests`],
    ],
  );
}

function clusterTable(costs: MeasuredCosts): string {
  const heading = [
    "accounts and requests a second",
    "nodes",
    "PostgreSQL",
    "Redis",
    "usage, rows a second",
    "cores for it",
    "median",
    "99 %",
    "busiest node, PostgreSQL, Redis",
  ];
  const rows = sizes.flatMap((size) =>
    [false, true].map((isRouted) => {
      const load = loadOf(size);
      const cluster = clusterFor(costs, load, { isRouted });
      const { p50Ms, p99Ms, busiest } = simulate(costs, load, cluster, simulated, seed);
      const cores = postgresCores(costs, load, cluster);
      return [
        `${count(size)}, ${isRouted ? "by account" : "any node"}`,
        count(cluster.nodes),
        count(cluster.postgres),
        count(cluster.redis),
        count(usageRowsPerSecond(load, cluster)),
        cores.usage.toFixed(1),
        `${p50Ms.toFixed(1)} ms`,
        `${p99Ms.toFixed(1)} ms`,
        [busiest.node, busiest.postgres, busiest.redis].map((share) => `${(share * 100).toFixed(0)} %`).join(", "),
      ];
    }),
  );
  return table(heading, rows);
}

function summary(costs: MeasuredCosts): string {
  const load = loadOf(sizes.at(-1)!);
  const [spread, routed] = [clusterFor(costs, load), clusterFor(costs, load, { isRouted: true })];
  const { nodes, redis } = routed;
  return (
    `So ${count(load.perSecond)} requests a second of ${count(load.accounts)} accounts need ${nodes} nodes, ${redis} Redis and ` +
    `${routed.postgres} PostgreSQL servers of ${assumed.postgresCores} cores, or ${spread.postgres} if any node gets any request.`
  );
}

const loadOf = (size: number): Load => ({ accounts: size, perSecond: size, mix, skew });

function table(heading: string[], rows: string[][]): string {
  const [head = "", ...lines] = [heading, ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return [head, `|${"---|".repeat(heading.length)}`, ...lines].join("\n");
}

function count(value: number): string {
  const digits = value >= 1_000 ? Math.max(1, 10 ** (Math.floor(Math.log10(value)) - 1)) : 1;
  return (Math.round(value / digits) * digits).toLocaleString("en");
}

function us(value: number): string {
  return value >= 1_000 ? `${(value / 1_000).toFixed(1)} ms` : `${value.toFixed(0)} µs`;
}

/** Rounds to three digits; repeated measurements agree on fewer. */
function rounded(costs: MeasuredCosts): MeasuredCosts {
  const text = JSON.stringify(costs, (_name, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(3)) : value));
  return JSON.parse(text) as MeasuredCosts;
}

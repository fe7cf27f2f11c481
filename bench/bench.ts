/**
 * `npm run bench` measures the table of docs/performance.md and writes it; `npm run bench -- store paging` measures and writes only these
 * suites. With `--check` it compares the rows with the committed ones instead, and writes nothing. Each row is a ratio of two figures that
 * are measured alternately in the same run, so that the machine matters little. `--quick` measures smaller shops in shorter rounds, if a
 * suite supports that, and writes nothing.
 *
 * Exit codes: 1 if a row got worse, or a budget does not add up; 2 for a wrong command line; 3 if no row got worse, but the machine was too busy to be sure of every row.
 * `runInGroup` has further codes.
 */
import { parseArgs } from "node:util";
import type { Suite } from "./figures.ts";
import { runInGroup } from "./group.ts";
import {
  compareRow,
  headingLines,
  keepRows,
  lineOf,
  missingRow,
  onlyNamed,
  readRows,
  rowOf,
  suiteNames,
  tolerance,
  type Finding,
  type Row,
  type SuiteName,
} from "./table.ts";

/** Loads a suite once its turn has come: a wrong command line needs none. */
const suites: Record<SuiteName, () => Promise<Suite>> = {
  store: async () => (await import("./store.ts")).measureStore,
  peers: async () => (await import("./peers.ts")).measurePeers,
  paging: async () => (await import("./paging.ts")).measurePaging,
  limits: async () => (await import("./limits.ts")).measureLimits,
  postgres: async () => (await import("./postgres.ts")).measurePostgres,
  publishing: async () => (await import("./publishing.ts")).measurePublishing,
  edge: async () => (await import("./edge.ts")).measureEdge,
  domains: async () => (await import("./custom-domains.ts")).measureCustomDomains,
  dashboard: async () => (await import("./dashboard.ts")).measureDashboard,
  pages: async () => (await import("./first-load.ts")).measureFirstLoads,
  lighthouse: async () => (await import("./lighthouse.ts")).measureLighthouse,
  hostile: async () => (await import("./hostile.ts")).measureHostile,
  backup: async () => (await import("./backup.ts")).measureBackup,
  growth: async () => (await import("./growth.ts")).measureGrowth,
  upgrade: async () => (await import("./upgrade.ts")).measureUpgrade,
  light: async () => (await import("./light.ts")).measureLight,
  webhooks: async () => (await import("./webhooks.ts")).measureWebhooks,
};
/** Measurements that run only if they are named, and write tables of their own: `scaling` into docs/scaling.md, `budget` into docs/performance.md. */
const separate = ["scaling", "budget"];
const exitCodes = { held: 0, worse: 1, unsure: 3 };

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = readWords();
  const { check: isCheck = false, quick: isQuick = false } = values;
  const unknown = positionals.find((name) => !(name in suites) && !separate.includes(name));
  if (unknown !== undefined) {
    console.error(`there is no suite ${unknown}: there are ${[...suiteNames, ...separate].join(", ")}`);
    return 2;
  }
  if (isCheck && isQuick) {
    console.error("--quick measures other shops than those of the table, so that --check cannot compare them");
    return 2;
  }
  const wanted = suiteNames.filter((name) => (positionals.length === 0 ? !onlyNamed.includes(name) : positionals.includes(name)));
  return runInGroup(import.meta.filename, process.argv.slice(2), async () => {
    const code = isCheck ? await check(wanted) : await measure(wanted, isQuick);
    if (positionals.includes("scaling")) await (await import("./scaling/report.ts")).reportScaling();
    if (!positionals.includes("budget")) return code;
    const addsUp = await (await import("./budget/report.ts")).reportBudget({ isCheck, isQuick });
    return addsUp ? code : exitCodes.worse;
  });
}

function readWords(): { values: { check?: boolean | undefined; quick?: boolean | undefined }; positionals: string[] } {
  try {
    return parseArgs({ options: { check: { type: "boolean" }, quick: { type: "boolean" } }, allowPositionals: true });
  } catch (error) {
    console.error(`${(error as Error).message.split(". ")[0]}: there are --check and --quick, and the names of suites`);
    process.exit(2);
  }
}

/** Prints each row of these suites as soon as it is measured, and writes them into the table once a suite is done. */
async function measure(names: SuiteName[], isQuick: boolean): Promise<number> {
  console.log(headingLines.join("\n"));
  for (const name of names) {
    const rows: Row[] = [];
    const suite = await suites[name]();
    for await (const figure of suite({ isQuick })) {
      const row = rowOf(name, figure);
      rows.push(row);
      console.log(lineOf(row));
    }
    if (!isQuick) keepRows(name, rows);
  }
  return 0;
}

/** Prints how each row of these suites compares with the committed one. */
async function check(names: SuiteName[]): Promise<number> {
  const found: Finding[] = [];
  for (const name of names) {
    const committed = new Map(readRows().flatMap((row) => (row.suite === name ? [[row.id, row] as const] : [])));
    const suite = await suites[name]();
    for await (const figure of suite({ isQuick: false })) {
      report(found, compareRow(figure, committed.get(figure.id)));
      committed.delete(figure.id);
    }
    for (const row of committed.values()) report(found, missingRow(row));
  }
  const outcome = (["worse", "unsure"] as const).find((one) => found.some((finding) => finding.outcome === one)) ?? "held";
  const counted = (one: Finding["outcome"]): number => found.filter((finding) => finding.outcome === one).length;
  console.log(
    `${counted("held")} rows held, ${counted("worse")} worse by more than ${tolerance * 100} %, ` +
      `${counted("unsure")} not measured: their rounds lie on both sides of the limit, so this machine is too busy for them`,
  );
  return exitCodes[outcome];
}

function report(found: Finding[], finding: Finding): void {
  found.push(finding);
  console.log(`${{ held: "held", worse: "WORSE", unsure: "NOT MEASURED" }[finding.outcome]} ${finding.text}`);
}

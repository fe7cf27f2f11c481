/**
 * The table of docs/performance.md: `npm run bench`, or `npm run bench -- store paging` for some suites. Each line is a
 * ratio of two things measured by turns in the same run, so that the machine matters little.
 */
import { measureCustomDomains } from "./custom-domains.ts";
import { measureDashboard } from "./dashboard.ts";
import { reaches, type Figure, type Suite } from "./figures.ts";
import { measureHostile } from "./hostile.ts";
import { measureLimits } from "./limits.ts";
import { measurePaging } from "./paging.ts";
import { measurePostgres } from "./postgres.ts";
import { measurePublishing } from "./publishing.ts";
import { measureStore } from "./store.ts";

const suites: Record<string, Suite> = {
  store: measureStore,
  paging: measurePaging,
  limits: measureLimits,
  postgres: measurePostgres,
  publishing: measurePublishing,
  domains: measureCustomDomains,
  dashboard: measureDashboard,
  hostile: measureHostile,
};

const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !(name in suites));
if (unknown === undefined) await measure(wanted);
else {
  console.error(`there is no suite ${unknown}: there are ${Object.keys(suites).join(", ")}`);
  process.exitCode = 2;
}

/** Prints the table of these suites, of all where none is named. */
async function measure(names: string[]): Promise<void> {
  console.log("| what | ours | against | unit | ratio | goal |  |\n|---|---|---|---|---|---|---|");
  for (const [name, suite] of Object.entries(suites)) {
    if (names.length > 0 && !names.includes(name)) continue;
    for (const figure of await suite()) console.log(line(figure));
  }
}

function line(figure: Figure): string {
  const { what, ours, against, unit, ratio, goal } = figure;
  return `| ${what} | ${short(ours)} | ${short(against)} | ${unit} | ${ratio.toFixed(2)} | ${goal} | ${reaches(figure) ? "reached" : "missed"} |`;
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

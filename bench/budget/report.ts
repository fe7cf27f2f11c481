import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { orderWhole } from "./orders.ts";
import { pageWhole, readWhole } from "./reads.ts";
import { openOwnService, type OwnService } from "./service.ts";
import { webhookWhole } from "./webhooks.ts";
import { addsUp, explained, measureWhole, type Budget, unexplainedMax } from "./whole.ts";

const documentPath = fileURLToPath(new URL("../../docs/performance.md", import.meta.url));
const place = /(<!-- budget -->\n)[^]*?(<!-- end of budget -->)/;
const animals = 100_000;

/**
 * Measures where the CPU of a read, a page, an order and a webhook goes, and prints it. Writes it into docs/performance.md unless it is a check
 * or quick.
 *
 * @returns whether each budget adds up
 */
export async function reportBudget({ isCheck, isQuick }: { isCheck: boolean; isQuick: boolean }): Promise<boolean> {
  const budgets: Budget[] = [];
  for (const open of [(service: OwnService) => readWhole(service, animals), pageWhole, orderWhole, webhookWhole]) {
    const service = await openOwnService(animals);
    try {
      const budget = await measureWhole(await open(service), { isQuick });
      console.log(linesOf(budget).join("\n"));
      budgets.push(budget);
    } finally {
      await service.stop();
    }
  }
  if (!isCheck && !isQuick) writeFileSync(documentPath, withBudgets(readFileSync(documentPath, "utf8"), budgets));
  const missed = budgets.filter((budget) => !addsUp(budget));
  for (const budget of missed) console.log(`${budget.name}: its steps miss the whole by more than ${unexplainedMax * 100} %`);
  return missed.length === 0;
}

/** Returns the page with its budgets replaced by these. */
function withBudgets(page: string, budgets: Budget[]): string {
  if (!place.test(page)) throw new Error("docs/performance.md has no place for the budget");
  return page.replace(place, (_, begin: string, end: string) => `${begin}${budgets.flatMap(linesOf).join("\n")}\n${end}`);
}

/** The table of a budget, with a blank line after it. */
function linesOf(budget: Budget): string[] {
  const { name, wholeUs, steps, parts } = budget;
  const sum = steps.reduce((total, [, us]) => total + us, 0);
  return [
    `| ${name} | µs |`,
    "|---|---|",
    ...steps.map(([what, us]) => `| ${what} | ${us.toFixed(1)} |`),
    `| **sum: ${Math.round(explained(budget) * 100)} % of the whole, which takes ${wholeUs.toFixed(1)}** | ${sum.toFixed(1)} |`,
    ...parts.map(([what, us]) => `| alone: ${what} | ${us.toFixed(2)} |`),
    "",
  ];
}

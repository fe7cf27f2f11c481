import { formatDefault, type CsvFormat } from "./csv-format.ts";
import { counted } from "./progress.ts";

/** The result of an import or of a dry run. `rejects` is the path of the reject file; null if there is none. */
export type Report = {
  rows: number;
  superseded: number;
  created: number;
  updated: number;
  unchanged: number;
  rejected: number;
  rejects: string | null;
  categoriesMade: string[];
  /** How the file was read. Set by the command line only. */
  format?: CsvFormat;
};

const delimiterNames: Record<CsvFormat["delimiter"], string> = { ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars" };

/** The report as text; `rehearsed` for a dry run. */
export function summary(report: Report, rehearsed: boolean, seconds: number): string {
  const { rows, superseded, created, updated, unchanged, rejected, rejects, categoriesMade } = report;
  const earlier = superseded === 0 ? "" : ` (${counted(superseded)} of them earlier rows of the same animals)`;
  const verbs = rehearsed ? ["to create", "to update"] : ["created", "updated"];
  const counts = [
    `${counted(created)} ${verbs[0]}`,
    `${counted(updated)} ${verbs[1]}`,
    `${counted(unchanged)} unchanged`,
    `${counted(rejected)} rejected`,
  ];
  const lines = [`${counted(rows)} rows${earlier} in ${seconds.toFixed(1)} s: ${counts.join(", ")}.`];
  const { encoding, delimiter } = report.format ?? formatDefault;
  if (encoding !== formatDefault.encoding || delimiter !== formatDefault.delimiter)
    lines.unshift(`The file was read as ${encoding} with ${delimiterNames[delimiter]}.`);
  if (categoriesMade.length > 0) lines.push(`Categories created: ${categoriesMade.join(", ")}.`);
  if (rejected > 0) lines.push(`Rejected rows with reasons: ${rejects ?? ""}`);
  return lines.join("\n");
}

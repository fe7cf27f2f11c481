import { formatDefault, type CsvFormat } from "./csv.ts";
import { listed } from "./lists.ts";
import type { MappingPlan } from "./mapping-plan.ts";
import type { FieldChange } from "./own-export.ts";
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
  /** The import in the service, which can be undone. Not set for a dry run. */
  importId?: number;
  /** The name under which the service knows the file's animals. */
  source?: string;
  /** How the file was read. Set by the command line only. */
  format?: CsvFormat;
  /** The sheets of a workbook that have rows, if there are several. */
  sheets?: string[];
  /** What the columns become. Not set for an export of the shop. */
  plan?: MappingPlan;
  /** For a dry run: the records that the import would add, and how many more the plan has room for. */
  needed?: number;
  room?: number;
  /** For an export of the shop: the first edits, and the number of rows with an edit that is not applied because the shop has changed the value. */
  edits?: { id: number; name: string; fields: FieldChange[]; stale: FieldChange[] }[];
  stale?: number;
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
  const lines = [`${counted(rows)} ${rows === 1 ? "row" : "rows"}${earlier} in ${seconds.toFixed(1)} s: ${counts.join(", ")}.`];
  const { encoding, delimiter, headerLine } = report.format ?? formatDefault;
  const header = headerLine === formatDefault.headerLine ? "" : `, and line ${headerLine} as the names of the columns`;
  if (encoding !== formatDefault.encoding || delimiter !== formatDefault.delimiter || headerLine !== formatDefault.headerLine)
    lines.unshift(`The file was read as ${encoding} with ${delimiterNames[delimiter]}${header}.`);
  if (report.sheets && report.format?.sheet !== undefined)
    lines.unshift(
      `The rows are those of the sheet “${report.format.sheet}”. The workbook has several with rows: ${listed(report.sheets)}; --sheet names another.`,
    );
  if (report.source !== undefined) lines.unshift(`The animals are known as those of “${report.source}”; --source names another source.`);
  if (report.plan) lines.unshift(...planText(report.plan));
  const { needed = 0, room = needed } = report;
  if (needed > room)
    lines.push(`This import does not fit: it adds ${counted(needed)} records, and the plan has room for ${counted(room)}.`);
  if (report.importId !== undefined && created + updated + categoriesMade.length > 0)
    lines.push(`Import ${report.importId}; \`petstore imports undo ${report.importId}\` takes it back.`);
  if (report.edits)
    lines.unshift("The file is an export of this shop: its rows change the animals with their ids.", ...editsText(report.edits));
  if (report.stale)
    lines.push(
      `${counted(report.stale)} rows have edits of values that the shop has changed since the export; they are not applied without --apply-stale.`,
    );
  if (categoriesMade.length > 0) lines.push(`Categories created: ${listed(categoriesMade)}.`);
  if (rejected > 0) lines.push(`Rejected rows with reasons: ${rejects ?? ""}`);
  return lines.join("\n");
}

const changesShown = 20;

function planText({ mapping, unused, statuses }: MappingPlan): string[] {
  const { id, name, category, status, stock, description, price, photos, facts } = mapping;
  const from = ({ columns, default: fallback }: { columns: string[]; default?: string }) =>
    [...columns, ...(fallback === undefined ? [] : [`“${fallback}”`])].join(", else ");
  const fields = [`id: ${id ?? "none, each row is an animal"}`, `name: ${from(name)}`, `category: ${from(category)}`];
  fields.push(`status: ${status ? from(status) : "available"}`);
  if (stock !== undefined) fields.push(`stock: ${typeof stock === "object" ? stock.column : stock}`);
  if (description) fields.push(`description: ${from(description)}`);
  if (price) fields.push(`price: ${[price.column, price.currencyColumn, price.currency].filter((part) => part !== undefined).join(", ")}`);
  const lines = [`${fields.join("; ")}.`];
  const { own = [], ...known } = facts ?? {};
  const factColumns = Object.entries(known).map(([fact, field]) => `${fact}: ${from(field)}`);
  if (facts) lines.push(`Facts: ${[...factColumns, ...own].join("; ")}.`);
  if (photos) lines.push(`Photos: ${from(photos)}; the service fetches them after the import.`);
  const values = statuses.map(({ value, rows, status: becomes = "rejected" }) => `“${value}” (${counted(rows)}) ${becomes}`);
  if (values.length > 0) lines.push(`Values of the status: ${values.join(", ")}.`);
  if (unused.length > 0) lines.push(`Columns that are not used: ${listed(unused)}.`);
  return lines;
}

function editsText(edits: NonNullable<Report["edits"]>): string[] {
  const lines = edits.flatMap(({ id, name, fields, stale }) => [
    ...fields.map(({ field, before, after }) => `${id} ${name}: ${field} ${before} → ${after}`),
    ...stale.map(({ field, before, after }) => `${id} ${name}: ${field} stays ${before}, not ${after}`),
  ]);
  return lines.length > changesShown ? [...lines.slice(0, changesShown), `and ${lines.length - changesShown} more changes`] : lines;
}

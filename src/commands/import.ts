import type { CsvFormat } from "../importing/csv.ts";
import type { ImportOptions } from "../importing/import-files.ts";
import type { PriceAnswers } from "../importing/mapping-plan.ts";
import type { Report } from "../importing/report.ts";
import { systemClock } from "../platform/clock.ts";
import { UsageError, type Arguments, type Command, type Io, type Outcome } from "./command.ts";
import { connect, connectionOf, connectionOptions, defaultsOf, linesTo, serviceOf, type Connect } from "./connection.ts";
import { withInputFile } from "./input-output.ts";

const readingOptions: Command["options"] = {
  mapping: {
    value: "FILE",
    about: "how columns become fields (docs/importing.md); - reads standard input. Default: a guess, refused where the file leaves it open",
  },
  "write-mapping": { value: "FILE", about: "write the guessed mapping to correct and complete it, and import nothing" },
  rows: {
    value: "new|changes",
    about: "what the rows are, if the file may be an export of this shop: new animals, or changes of those with their ids",
  },
  "apply-stale": { about: "for an export of this shop: apply edits even of values that the shop has changed since, such as stock" },
  source: { value: "NAME", about: "where the animals come from, the same for each file of one system. Default: as the file shows" },
  state: { value: "FILE", about: "what a release before 1.2 remembered. Default: FILE.petstore-state.json" },
  encoding: { value: "NAME", about: "the file's text encoding, such as windows-1251 or shift_jis. Default: the file shows it" },
  "header-line": {
    value: "N",
    about: "the line with the names of the columns; those above it are left out. Default: the file shows it",
  },
  sheet: { value: "NAME", about: "the sheet of a workbook. Default: the first visible one with rows" },
  currency: {
    value: "CODE",
    about: "the currency of prices that name none, such as EUR. Default: as the column's name says, else the shop's",
  },
  decimal: {
    value: "comma|point",
    about: "the decimal mark of prices such as 1.234, which may be two amounts. Default: as the other prices show",
  },
  rejects: {
    value: "FILE",
    about: "where to write the rows that could not be loaded, and why. Default: FILE.petstore-rejects.csv; needed with -",
  },
  "dry-run": { about: "read, map and count the rows and write the rejects; change nothing" },
};

export const importCommand: Command = {
  name: "import",
  summary: "Load a CSV file of pets, or - for standard input, through the API; run it again to load changes",
  options: { ...readingOptions, ...connectionOptions },
  operands: ["FILE"],
  async run({ options, operands: [file = ""] }, io) {
    const mapping = options["mapping"] as string | undefined;
    if (file === "-" && mapping === "-") throw new UsageError("FILE and --mapping cannot both be standard input");
    if (typeof options["write-mapping"] === "string") return writeGuess(io, file, options);
    if (file === "-" && options["rejects"] === undefined) throw new UsageError("with - for FILE, --rejects FILE is required");
    const rehearsed = options["dry-run"] === true;
    // A dry run needs no key to read and count the rows.
    const connection = (rehearsed ? serviceOf : connectionOf)(options, defaultsOf(io));
    const { rehearse } = await import("../importing/import-files.ts");
    const { summary } = await import("../importing/report.ts");
    const format = await formatIn(options);
    const startedAt = systemClock();
    const report = await withInputFile(io, file, (rows) =>
      withMapping(io, mapping, async (mappingFile) => {
        const files = { file: rows, mappingFile, ...answersOf(options), format, prices: pricesIn(options) };
        if (!rehearsed) return importNow(files, connection, io.stderr);
        return rehearse(files, connection.key.trim() === "" ? undefined : await connect(connection, linesTo(io)));
      }),
    );
    const seconds = (systemClock() - startedAt) / 1_000;
    const isAllRejected = report.rejected > 0 && report.created + report.updated + report.unchanged === 0;
    return { json: { ...report, dryRun: rehearsed }, text: summary(report, rehearsed, seconds), exitCode: isAllRejected ? 1 : 0 };
  },
};

/** Writes the mapping that is guessed, and imports nothing. */
async function writeGuess(io: Io, file: string, options: Arguments["options"]): Promise<Outcome> {
  const { writeMapping } = await import("../importing/import-files.ts");
  const to = String(options["write-mapping"]);
  const known = { format: await formatIn(options), prices: pricesIn(options) };
  const { mapping, questions } = await withInputFile(io, file, (rows) => writeMapping(rows, to, known));
  const open = questions.length === 0 ? "" : ` The file does not show ${questions.join("; ")}.`;
  return { json: { mapping, questions, file: to }, text: `The guessed mapping is in ${to}.${open}` };
}

/** What the options say about the file's format. @throws UsageError */
async function formatIn({ encoding: name, "header-line": line, sheet }: Arguments["options"]): Promise<Partial<CsvFormat>> {
  const { encodingNamed } = await import("../importing/encodings.ts");
  const { encodings } = await import("../importing/encodings.ts");
  const encoding = typeof name === "string" ? encodingNamed(name) : undefined;
  if (typeof name === "string" && encoding === undefined)
    throw new UsageError(`--encoding knows no ${JSON.stringify(name)}; it is one of ${encodings.join(", ")}`);
  const headerLine = typeof line === "string" ? Number(line) : undefined;
  if (headerLine !== undefined && (!Number.isSafeInteger(headerLine) || headerLine < 1))
    throw new UsageError("--header-line is a whole number from 1");
  return { ...(encoding && { encoding }), ...(headerLine !== undefined && { headerLine }), ...(typeof sheet === "string" && { sheet }) };
}

/** What the options say about prices. @throws UsageError */
function pricesIn({ currency, decimal }: Arguments["options"]): PriceAnswers {
  const code = typeof currency === "string" ? currency.toUpperCase() : undefined;
  if (code !== undefined && !/^[A-Z]{3}$/.test(code)) throw new UsageError("--currency is a code of three letters, such as EUR");
  if (decimal !== undefined && decimal !== "comma" && decimal !== "point") throw new UsageError("--decimal is comma or point");
  return { ...(code !== undefined && { currency: code }), ...(decimal && { decimal }) };
}

function withMapping<R>(io: Io, mapping: string | undefined, work: (mapping: string | undefined) => Promise<R>): Promise<R> {
  return mapping === undefined ? work(mapping) : withInputFile(io, mapping, work);
}

function answersOf(options: Arguments["options"]): Omit<ImportOptions, "file" | "mappingFile"> {
  const rowsAre = options["rows"];
  if (rowsAre !== undefined && rowsAre !== "new" && rowsAre !== "changes") throw new UsageError("--rows is new or changes");
  const [stateFile, rejectsFile] = [options["state"] as string | undefined, options["rejects"] as string | undefined];
  const source = options["source"] as string | undefined;
  return { source, stateFile, rejectsFile, rowsAre, appliesStale: options["apply-stale"] === true };
}

/** Shows a progress bar once the file is read. Waits are printed above the bar, or as lines before it appears. */
async function importNow(files: ImportOptions, connection: Connect, stderr: Io["stderr"]): Promise<Report> {
  const { importFile } = await import("../importing/import-files.ts");
  const { showProgress } = await import("../importing/progress.ts");
  let progress = showProgress({ write: (text) => stderr.write(text) }, 0, systemClock);
  const client = await connect(connection, (line) => progress.note(line));
  return importFile(client, files, systemClock, (total) => (progress = showProgress(stderr, total, systemClock)));
}

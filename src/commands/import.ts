import type { ImportOptions } from "../importing/import-files.ts";
import type { Report } from "../importing/report.ts";
import { systemClock } from "../platform/clock.ts";
import { UsageError, type Command, type Io } from "./command.ts";
import { connect, connectionOf, connectionOptions, type Connect, type Environment } from "./connection.ts";
import { withInputFile } from "./standard-input.ts";

/** Creates the command. `environment` returns the service and key to use if the options name none. */
export function importing(environment: Environment): Command {
  return {
    name: "import",
    summary: "Load a CSV file of pets, or - for standard input, through the API; run it again to load changes",
    options: {
      mapping: { value: "FILE", required: true, about: "how columns become fields (docs/importing.md); - reads standard input" },
      state: { value: "FILE", about: "the record of what earlier runs have loaded. Default: FILE.petstore-state.json; needed with -" },
      rejects: {
        value: "FILE",
        about: "where to write the rows that could not be loaded, and why. Default: FILE.petstore-rejects.csv; needed with -",
      },
      "dry-run": { about: "read, map and count the rows and write the rejects, without calling the service" },
      resend: { about: "send an unanswered batch again after more than 23 hours" },
      ...connectionOptions,
    },
    operands: ["FILE"],
    async run({ options, operands: [file = ""] }, io) {
      const mapping = String(options["mapping"]);
      if (file === "-" && mapping === "-") throw new UsageError("FILE and --mapping cannot both be standard input");
      if (file === "-" && (options["state"] === undefined || options["rejects"] === undefined))
        throw new UsageError("with - for FILE, --state FILE and --rejects FILE are required");
      const rehearsed = options["dry-run"] === true;
      const connection = rehearsed ? undefined : connectionOf(options, environment(io));
      const { rehearse } = await import("../importing/import-files.ts");
      const { summary } = await import("../importing/report.ts");
      const startedAt = systemClock();
      const report = await withInputFile(io, file, (rows) =>
        withInputFile(io, mapping, (mappingFile) => {
          const files = { file: rows, mappingFile, ...recordsOf(options), resend: options["resend"] === true };
          return connection === undefined ? rehearse(files) : importNow(files, connection, io.stderr);
        }),
      );
      const seconds = (systemClock() - startedAt) / 1_000;
      const isAllRejected = report.rejected > 0 && report.created + report.updated + report.unchanged === 0;
      return { json: { ...report, dryRun: rehearsed }, text: summary(report, rehearsed, seconds), exitCode: isAllRejected ? 1 : 0 };
    },
  };
}

function recordsOf({ state, rejects }: Record<string, unknown>): Pick<ImportOptions, "stateFile" | "rejectsFile"> {
  return { stateFile: state as string | undefined, rejectsFile: rejects as string | undefined };
}

/** Shows a progress bar once the file is read. Waits are printed above the bar, or as lines before it appears. */
async function importNow(files: ImportOptions, connection: Connect, stderr: Io["stderr"]): Promise<Report> {
  const { importFile } = await import("../importing/import-files.ts");
  const { showProgress } = await import("../importing/progress.ts");
  let progress = showProgress({ write: (text) => stderr.write(text) }, 0, systemClock);
  const client = await connect(connection, (line) => progress.note(line));
  return importFile(client, files, systemClock, (total) => (progress = showProgress(stderr, total, systemClock)));
}

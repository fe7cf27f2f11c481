import type { ImportOptions } from "../importing/import-files.ts";
import type { Report } from "../importing/report.ts";
import { systemClock } from "../platform/clock.ts";
import type { Command, Io } from "./command.ts";
import { connect, connectionOf, connectionOptions, type Connect, type Environment } from "./connection.ts";

/** Creates the command. `environment` returns the service and key to use if the options name none. */
export function importing(environment: Environment): Command {
  return {
    name: "import",
    summary: "Load a CSV file of pets through the API; run it again to load changes",
    options: {
      mapping: { value: "FILE", required: true, about: "how columns become fields (docs/importing.md)" },
      state: { value: "FILE", about: "the record of what earlier runs have loaded. Default: FILE.petstore-state.json" },
      rejects: { value: "FILE", about: "where to write the rows that could not be loaded, and why. Default: FILE.petstore-rejects.csv" },
      "dry-run": { about: "read, map and count the rows and write the rejects, without calling the service" },
      resend: { about: "send an unanswered batch again after more than 23 hours" },
      ...connectionOptions,
    },
    operands: ["FILE"],
    async run({ options, operands: [file = ""] }, io) {
      const files: ImportOptions = {
        file,
        mappingFile: String(options["mapping"]),
        stateFile: options["state"] as string | undefined,
        rejectsFile: options["rejects"] as string | undefined,
        resend: options["resend"] === true,
      };
      const rehearsed = options["dry-run"] === true;
      const { rehearse } = await import("../importing/import-files.ts");
      const { summary } = await import("../importing/report.ts");
      const startedAt = systemClock();
      const report = rehearsed ? await rehearse(files) : await importNow(files, connectionOf(options, environment(io)), io.stderr);
      const seconds = (systemClock() - startedAt) / 1_000;
      return { json: { ...report, dryRun: rehearsed }, text: summary(report, rehearsed, seconds) };
    },
  };
}

/** Shows a progress bar once the file is read. Waits are printed above the bar, or as lines before it appears. */
async function importNow(files: ImportOptions, connection: Connect, stderr: Io["stderr"]): Promise<Report> {
  const { importFile } = await import("../importing/import-files.ts");
  const { showProgress } = await import("../importing/progress.ts");
  let progress = showProgress({ write: (text) => stderr.write(text) }, 0, systemClock);
  const client = await connect(connection, (line) => progress.note(line));
  return importFile(client, files, systemClock, (total) => (progress = showProgress(stderr, total, systemClock)));
}

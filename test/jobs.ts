import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

/** Test files that one process runs, one after another, on one engine. */
export type Job = {
  engine: string;
  files: string[];
  /** Whether the hooks of a file run before and after its tests alone. A file that waits while it loads must not be among them. */
  isInTurn?: boolean;
  /** Whether a failure may be due to timing (decision 0087). */
  isRepeatable?: boolean;
};

/** How many tests a job ran; `failed` has the paths of the files with a test that failed. */
export type JobReport = { tests: number; passed: number; skipped: number; failed: string[] };

type Options = {
  /** Processes at once. */
  atOnce: number;
  /** A process that takes longer is killed with every process that it started. */
  jobMsMax: number;
  /** Up to so many files of each engine run once more if they failed. */
  repeatedMax: number;
  /** Receives the output of one job at a time. */
  write: (text: string) => void;
};

type Ended = JobReport & { job: Job };

const program = ["--import=./test/support/untracked-promises.ts", "./test/support/run-job.ts"];

/**
 * Runs all jobs, in this order, some at once, and writes the output of each when it ends. Then repeats the files that failed, each alone, if
 * they are few: that run decides (decision 0087). Returns the sums.
 */
export async function runJobs(jobs: Job[], options: Options): Promise<JobReport> {
  const ended = await runAll(jobs, options);
  const repeated = filesToRepeat(ended, options.repeatedMax);
  if (repeated.length > 0) options.write(`FAILED ONCE, and now repeated alone: ${repeated.flatMap(({ files }) => files).join(", ")}\n`);
  const again = await runAll(repeated, { ...options, atOnce: 1 });
  const isRepeated = (file: string, { engine }: Job): boolean => repeated.some((job) => job.engine === engine && job.files.includes(file));
  const failed = [
    ...ended.flatMap((one) => one.failed.filter((file) => !isRepeated(file, one.job))),
    ...again.flatMap((one) => one.failed),
  ];
  const sum = (of: (one: Ended) => number): number => ended.reduce((total, one) => total + of(one), 0);
  const [tests, skipped] = [sum((one) => one.tests), sum((one) => one.skipped)];
  return { tests, skipped, failed, passed: failed.length === 0 ? tests - skipped : sum((one) => one.passed) };
}

async function runAll(jobs: Job[], options: Options): Promise<Ended[]> {
  const waiting = [...jobs];
  const ended: Ended[] = [];
  const takeNext = async (): Promise<void> => {
    for (let job = waiting.shift(); job; job = waiting.shift()) ended.push({ job, ...(await runJob(job, options)) });
  };
  await Promise.all(Array.from({ length: options.atOnce }, takeNext));
  return ended;
}

/** One job for each failed file; none for an engine with more of them than may be repeated, since those have a cause in common. */
function filesToRepeat(ended: Ended[], repeatedMax: number): Job[] {
  const failed = ended.flatMap(({ job, failed: files }) => files.map((file) => ({ ...job, files: [file] })));
  return failed.filter(({ engine, isRepeatable }) => isRepeatable && failed.filter((one) => one.engine === engine).length <= repeatedMax);
}

async function runJob({ engine, files, isInTurn }: Job, { jobMsMax, write }: Options): Promise<JobReport> {
  const startedAt = Date.now();
  const folder = mkdtempSync(join(tmpdir(), "job-"));
  const list = join(folder, "report");
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env; // a run of its own, even where a test starts it
  const env = { ...environment, PETSTORE_TEST_ENGINE: engine };
  // In a process group of its own, so that whatever a file leaves running ends with the job and holds no pipe open.
  const child = spawn(process.execPath, [...program, list, ...(isInTurn ? ["--in-turn"] : []), ...files], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => output.push(chunk));
  const endGroup = (): void => endProcessGroup(child.pid!);
  const timer = setTimeout(() => {
    output.push(Buffer.from(`This took longer than ${jobMsMax / 60_000} minutes and was ended.\n`));
    endGroup();
  }, jobMsMax);
  process.on("exit", endGroup);
  child.once("exit", endGroup);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  process.off("exit", endGroup);
  const report = reportIn(list, code, files);
  rmSync(folder, { recursive: true });
  write(`${files.join(" ")} on ${engine}, ${Math.round((Date.now() - startedAt) / 1000)} s\n`);
  write(withoutSums(Buffer.concat(output).toString()));
  return report;
}

/** What the reporter wrote. A process that ended before it could write, or failed outside a test, fails all its files. */
function reportIn(list: string, code: number | null, files: string[]): JobReport {
  const lines = existsSync(list) ? readFileSync(list, "utf8").split("\n").slice(0, -1) : [];
  const counts = lines.find((line) => line.startsWith("{"));
  const { tests, passed, skipped } = JSON.parse(counts ?? `{"tests": 0, "passed": 0, "skipped": 0}`) as Omit<JobReport, "failed">;
  const named = new Set(lines.filter((line) => !line.startsWith("{")).map((path) => relative(process.cwd(), path)));
  if (code === 0 && named.size === 0) return { tests, passed, skipped, failed: [] };
  const known = [...named].filter((file) => files.includes(file)); // a test may also be declared in a file that others import
  return { tests, passed, skipped, failed: known.length > 0 ? known : files };
}

/** The output without the reporter's counts, of which `run.ts` shows the sums. */
function withoutSums(output: string): string {
  return output.replaceAll(/^ℹ (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) .*\n/gm, "");
}

function endProcessGroup(id: number): void {
  try {
    process.kill(-id, "SIGKILL");
  } catch {
    // it has ended
  }
}

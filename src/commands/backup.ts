import { readdirSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { callerFolder, loadSettings } from "../app/settings.ts";
import type { Progress } from "../backup/dump.ts";
import type { Manifest } from "../backup/manifest.ts";
import { dayMs, hourMs, systemClock } from "../platform/clock.ts";
import { type Arguments, type Command, countOf, errorLine, failure, type Io, type Outcome, stoppable, UsageError } from "./command.ts";
import { givenPassphrase } from "./input-output.ts";

const keepMax = 10_000;

export const backup: Command = {
  name: "backup",
  summary: "Write everything the service keeps to one checked file, even while the service runs",
  options: {
    "passphrase-file": {
      value: "FILE",
      about: "encrypt with the passphrase in this file, in the format of age; - reads it from standard input",
    },
    "without-secrets": { about: "leave out the secrets key; a restore then needs it in SECRETS_KEY" },
    to: { value: "PLACE", about: "instead of FILE: a folder or s3://bucket/prefix; the command names the backup by its time" },
    every: { value: "TIME", about: "with --to: make a backup at once and one at each interval, such as 6h, 30m or 1d" },
    keep: { value: "N", about: "with --to: after each backup, keep the newest N that this command made, and remove the others" },
  },
  operands: ["[FILE]"],
  async run(args, io) {
    const given = readGiven(args, io);
    // A file is read anew for each backup, standard input once.
    if (given.passphraseFile === "-") given.passphrase = await givenPassphrase(io, "-", "");
    if (io.stdout === process.stdout) yieldProcessor(); // the process does nothing else
    if (given.to !== undefined) return backUpByTime(io, given, given.to);
    return stoppable(io, endingOf(given), () => backUpTo(io, given, (write) => write(given.path)));
  },
};

type BackupArguments = {
  path: string;
  to: string | undefined;
  everyMs: number | undefined;
  keep: number | undefined;
  passphraseFile: string | undefined;
  /** The passphrase from standard input. */
  passphrase?: string | undefined;
  withoutSecrets: boolean;
  json: boolean;
};

/** @throws UsageError */
function readGiven({ options, operands: [file], json }: Arguments, io: Io): BackupArguments {
  const text = (name: string): string | undefined => options[name] as string | undefined;
  const from = callerFolder(io.env);
  const to = text("to");
  if ((file === undefined) === (to === undefined)) throw new UsageError("either FILE or --to PLACE is required");
  if (to === undefined && (options["every"] ?? options["keep"]) !== undefined) throw new UsageError("--every and --keep need --to PLACE");
  const everyMs = parsed(text("every"), parsePause, "--every must be a time such as 6h, from 1s to 20d");
  const keep = parsed(text("keep"), keptOf, `--keep must be a number from 1 to ${keepMax}`);
  const passphraseFile = text("passphrase-file");
  return {
    path: resolve(from, file ?? to ?? ""),
    to,
    everyMs,
    keep,
    passphraseFile: passphraseFile === "-" ? passphraseFile : passphraseFile && resolve(from, passphraseFile),
    withoutSecrets: options["without-secrets"] === true,
    json,
  };
}

function keptOf(value: string): number | undefined {
  const keep = /^[1-9]\d{0,4}$/.test(value) ? Number(value) : keepMax + 1;
  return keep <= keepMax ? keep : undefined;
}

function parsed(value: string | undefined, parse: (text: string) => number | undefined, rule: string): number | undefined {
  if (value === undefined) return undefined;
  const result = parse(value);
  if (result === undefined) throw new UsageError(rule);
  return result;
}

function endingOf({ json }: BackupArguments): { json: boolean; failed: string } {
  return { json, failed: "no backup was made" };
}

/** Makes backups that are named by their time: one, or one at each interval until a signal ends the command. */
async function backUpByTime(io: Io, given: BackupArguments, to: string): Promise<Outcome | undefined> {
  const { backupName, openDestination } = await import("../backup/destinations.ts");
  const s3Settings = loadSettings(io.env, { needsSecretsKey: false });
  const destination = await stoppable(io, endingOf(given), () => openDestination(to, given.path, s3Settings));
  const make = (): Promise<Outcome> =>
    stoppable(io, endingOf(given), async () => {
      const name = backupName(systemClock(), given.passphraseFile !== undefined);
      const outcome = await backUpTo(io, given, (write) => destination.put(name, write));
      // an older backup may be better than one that lacks files
      const removed = given.keep === undefined || outcome.exitCode ? [] : await destination.prune(name, given.keep);
      const text = removed.length === 0 ? outcome.text : `${outcome.text}\nRemoved ${removed.length} older: ${removed.join(", ")}.`;
      return { ...outcome, text, json: { ...outcome.json, removed } };
    });
  if (given.everyMs === undefined) return make();
  await repeatUntilStopped(io, given, given.everyMs, make);
  return undefined;
}

/** A signal between two backups ends the loop; one during a backup ends the process. */
async function repeatUntilStopped(io: Io, { json }: BackupArguments, everyMs: number, make: () => Promise<Outcome>): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const onFailed = (error: unknown): void => void io.stderr.write(errorLine(json, failure(error)));
  const wait = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => undefined);
  await repeatBackups(
    async () => {
      const outcome = await make();
      io.stdout.write(`${json ? JSON.stringify(outcome.json) : outcome.text}\n`);
    },
    { everyMs, now: () => performance.now(), wait, signal: stop.signal, onFailed },
  );
}

type Write = (path: string) => Promise<void>;

/** Makes one backup, and records its time. `put` chooses its place, and returns it. */
async function backUpTo(io: Io, given: BackupArguments, put: (write: Write) => Promise<string | void>): Promise<Outcome> {
  const { writeBackup, requireNew } = await import("../backup/backup-file.ts");
  const { openSource } = await import("../backup/source.ts");
  const { recordBackup } = await import("../backup/manifest.ts");
  const passphrase = given.passphrase ?? (await givenPassphrase(io, given.passphraseFile, ""));
  const settings = loadSettings(io.env, { needsSecretsKey: !given.withoutSecrets });
  const begun = performance.now();
  let made: Parameters<typeof reportOf> | undefined;
  const write = async (path: string): Promise<void> => {
    requireNew(path);
    const source = await openSource(settings, !given.withoutSecrets);
    try {
      const making = { now: systemClock(), passphrase, progress: progressTo(io) };
      const { manifest, bytes } = await writeBackup(path, source, making);
      made = [manifest, { file: path, bytes, encrypted: passphrase !== undefined, ms: 0 }];
    } finally {
      await source.close();
    }
  };
  const place = await put(write);
  const [manifest, details] = made!;
  const outcome = reportOf(manifest, { ...details, file: place ?? details.file, ms: Math.round(performance.now() - begun) });
  if (outcome.exitCode) return outcome;
  await recordBackup(settings.dataDir, manifest.madeAt).catch((error: unknown) => {
    const { message } = failure(error);
    io.stderr.write(`petstore: the backup is complete; its time was not recorded for the metrics (${message})\n`);
  });
  return outcome;
}

const unitsMs: Record<string, number> = { s: 1_000, m: 60_000, h: hourMs, d: dayMs };
/** The longest pause: a timer cannot wait longer than 24 days. */
const pauseMsMax = 20 * dayMs;

/** Parses a time such as `6h`: seconds, minutes, hours or days, from 1 second to 20 days. Returns ms, or undefined for any other text. */
export function parsePause(text: string): number | undefined {
  const [, number, unit = ""] = /^([1-9]\d{0,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(number) * (unitsMs[unit] ?? Number.NaN);
  return ms <= pauseMsMax ? ms : undefined;
}

type BackupSchedule = {
  everyMs: number;
  now: () => number;
  /** Resolves after a time, or at once when it is aborted. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  signal: AbortSignal;
  onFailed: (error: unknown) => void;
};

/**
 * Makes a backup at once and then one at each interval, until the signal is aborted. A failed backup does not end the loop. While a backup
 * takes longer than the interval, the intervals that pass are skipped.
 */
export async function repeatBackups(make: () => Promise<void>, { everyMs, now, wait, signal, onFailed }: BackupSchedule): Promise<void> {
  const begun = now();
  while (!signal.aborted) {
    await make().catch(onFailed);
    const since = now() - begun;
    if (!signal.aborted) await wait(everyMs - (since % everyMs), signal);
  }
}

type Details = { file: string; bytes: number; encrypted: boolean; ms: number };

/** Describes a backup, and warns of a key in clear or of missing files. The exit code is 1 if files are missing. */
function reportOf(manifest: Manifest, { file, bytes, encrypted, ms }: Details): Outcome {
  const { missing, secrets } = manifest;
  const rows = rowsOf(manifest);
  const files = manifest.parts.find(({ name }) => name === "content")?.files ?? 0;
  const size = bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
  const lines = [
    `Backed up ${countOf(rows, "row")} and ${countOf(files, "published file")} (${size}) in ${(ms / 1_000).toFixed(1)} s, and checked the file.`,
  ];
  if (secrets.isIncluded && !encrypted)
    lines.push(
      "The file holds the secrets key in clear: anyone who can read the file can decrypt every secret. --passphrase-file encrypts it.",
    );
  if (!secrets.isIncluded && secrets.keys.length > 0)
    lines.push("The file does not hold the secrets key: a restore needs it in SECRETS_KEY.");
  if (missing > 0)
    lines.push(`The service itself lacks ${countOf(missing, "published file")}, and so does the backup: \`petstore verify\` names them.`);
  const madeAt = new Date(manifest.madeAt).toISOString();
  const json = { file, bytes, ms, madeAt, rows, files, missing, encrypted, secrets: secrets.isIncluded };
  return { json, text: lines.join("\n"), exitCode: missing > 0 ? 1 : 0 };
}

/** The rows of all tables of a backup. */
export function rowsOf({ parts }: Manifest): number {
  return parts.reduce((sum, part) => sum + (part.rows ?? 0), 0);
}

const progressEveryMs = 500;

/** Returns a function that shows how far a backup or a restore is, on a terminal only, at most twice a second. */
export function progressTo({ stderr }: Io): Progress {
  if (!stderr.isTTY) return () => undefined;
  let shownAt = 0;
  return (part, done) => {
    if (systemClock() - shownAt < progressEveryMs) return;
    shownAt = systemClock();
    stderr.write(`\r\u001b[K${part}: ${done}\r`);
  };
}

/**
 * Gives this process a lower priority, so that a backup hardly slows a service on the same machine. Not the lowest priority, with which a backup
 * would hardly progress while other processes keep every core busy. Linux keeps a priority for each thread, and Node has started some by now.
 */
function yieldProcessor(): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // it has ended, or the system forbids it
    }
  }
}

/** The ids of this process' threads; where the system does not list them 0, which stands for the process. */
function threads(): number[] {
  try {
    return readdirSync("/proc/self/task").map(Number);
  } catch {
    return [0];
  }
}

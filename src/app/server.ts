import cluster from "node:cluster";
import { X509Certificate } from "node:crypto";
import { flushCompileCache } from "node:module";
import { performance } from "node:perf_hooks";
import { causeOf } from "../platform/causes.ts";
import { systemClock } from "../platform/clock.ts";
import { type Logger, openLog, type OpenLog } from "../platform/log.ts";
import { attempt } from "../platform/parse.ts";
import { openService, type Service } from "./service.ts";
import { logFormatOf, needingRestart, type Settings } from "./settings.ts";
import type { Signals } from "./signals.ts";
import { databasePath, withPathNamed } from "./storage.ts";
import { report } from "./worker-metrics.ts";

/** The exit code after a flush that failed: EX_IOERR of sysexits.h. */
const flushFailedCode = 74;

/**
 * Starts the service, prints its address, reloads it on SIGHUP, and stops it on SIGTERM or SIGINT. Resolves when it has stopped.
 *
 * @param read returns the settings, which a reload reads again
 * @param unknown returns a line for each name in the file of `ENV_FILE` that is not a setting
 */
export async function serve(read: () => Settings, signals: Signals, unknown: () => string[]): Promise<void> {
  let settings = read();
  const logOutput = openLog(settings.logLevel, logFormatOf(settings));
  const { log, close: closeLog } = logOutput;
  // Exits at once and closes nothing: it is unknown what the disk has stored, and the next start makes the log durable again.
  const onFlushFailed = (error: unknown): void => {
    log.fatal({ err: error }, "the disk failed to flush the database's log: exiting, so that no more writes are acknowledged");
    closeLog();
    process.exit(flushFailedCode);
  };
  try {
    if (signals.stopAsked()) return log.info({ signal: await signals.stop }, "stopped before it started");
    warnOf(unknown, log);
    await using opened = new AsyncDisposableStack();
    const service = await openService(settings, { clock: systemClock, log, logOutput, onFlushFailed });
    opened.defer(() => service.close());
    signals.onHangUp(() => {
      settings = reloaded(settings, read, service, log);
      warnOf(unknown, log);
    });
    if (signals.stopAsked()) return log.info({ signal: await signals.stop }, "stopped before it started");
    await Promise.race([begin(service, settings, logOutput), signals.stop]);
    await stop(service, await signals.stop, settings, log);
  } catch (error) {
    const { cause, closing } = causeOf(error);
    for (const err of closing) log.error({ err }, "closing failed");
    throw withPathNamed(cause, { dataDir: settings.dataDir, file: databasePath(settings.dataDir) });
  } finally {
    closeLog();
  }
}

/** Logs a line for each unknown name. Of several workers, only the first does. */
function warnOf(unknown: () => string[], log: Logger): void {
  if ((cluster.worker?.id ?? 1) > 1) return;
  for (const line of attempt(unknown) ?? []) log.warn(line); // a reload has logged why the file cannot be read
}

async function begin(service: Service, settings: Settings, { log, addNow }: OpenLog): Promise<void> {
  await service.ready;
  report({ petstore: "ready" });
  const { publicUrl } = settings;
  const isForPeople = process.stdout.isTTY && logFormatOf(settings) === "text" && (cluster.worker?.id ?? 1) === 1;
  if (isForPeople) print(`Pet Store is at ${publicUrl} (API: ${publicUrl}/v1, description: ${publicUrl}/openapi.json)`);
  await service.firstStart.make(isForPeople ? print : (line) => addNow(`${line}\n`), isForPeople);
  flushCompileCache(); // the next start is fast even if this process is killed
  log.info({ address: service.address, publicUrl, startedMs: Math.round(performance.now()) }, "started");
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Drains, unless the signal is SIGINT, and stops. */
async function stop(service: Service, signal: NodeJS.Signals, { drainSeconds }: Settings, log: Logger): Promise<void> {
  const drainFor = signal === "SIGINT" ? 0 : drainSeconds;
  if (drainFor > 0) {
    log.info({ signal, drainSeconds: drainFor }, "draining");
    await service.drain(drainFor * 1_000);
  }
  log.info({ signal }, "stopping");
  await service.close();
  log.info("stopped");
}

/**
 * Reads the settings and the files that they name again, and applies those that can change while the service runs. If one of them is wrong, it
 * changes nothing. It logs one line in either case.
 *
 * @param read reads the settings again
 * @returns the settings that are in force
 */
function reloaded(current: Settings, read: () => Settings, service: Service, log: Logger): Settings {
  try {
    const next = read();
    if (next.edgeCert !== current.edgeCert) requireUsable(next, systemClock());
    service.reload(next);
    const unchanged = needingRestart(current, next);
    if (unchanged.length > 0) log.warn({ settings: unchanged }, "reloaded; these settings change with the next start");
    else log.info("reloaded");
    log.level = next.logLevel;
    return next;
  } catch (error) {
    log.error({ reason: (error as Error).message }, "the reload changed nothing");
    return current;
  }
}

/** Throws if browsers would refuse the new wildcard certificate. */
function requireUsable({ edgeCert, platformDomain }: Settings, now: number): void {
  if (edgeCert === "") return;
  const certificate = new X509Certificate(edgeCert);
  const { validFrom, validTo } = certificate;
  if (certificate.validToDate.getTime() <= now) throw new Error(`the certificate in EDGE_CERT_FILE expired: ${validTo}`);
  if (certificate.validFromDate.getTime() > now) throw new Error(`the certificate in EDGE_CERT_FILE is not valid yet: ${validFrom}`);
  if (certificate.checkHost(`a.${platformDomain}`) === undefined)
    throw new Error(`the certificate in EDGE_CERT_FILE is not for the names below PLATFORM_DOMAIN (${platformDomain})`);
}

import { performance } from "node:perf_hooks";
import { causeOf } from "../platform/causes.ts";
import { systemClock } from "../platform/clock.ts";
import { openLog, type Logger } from "../platform/log.ts";
import { openService, type Service } from "./service.ts";
import type { Settings } from "./settings.ts";

/** Signals within this time of the first are the same one. */
const sameSignalMs = 500;
/** The exit code after a flush that failed: EX_IOERR of sysexits.h. */
const flushFailedCode = 74;

/** Starts the service, prints its address, and stops it on SIGTERM or SIGINT. Resolves when it has stopped. */
export async function serve(settings: Settings): Promise<void> {
  const { log, close: closeLog } = openLog(settings.logLevel);
  const stopAsked = stopSignal();
  // Exits at once and closes nothing: what the disk has is unknown, and the next start makes the log durable again.
  const onFlushFailed = (error: unknown): void => {
    log.fatal({ err: error }, "the disk failed to keep the database's log: ending, so that nothing more is acknowledged");
    closeLog();
    process.exit(flushFailedCode);
  };
  try {
    await using opened = new AsyncDisposableStack();
    const service = await openService(settings, { clock: systemClock, log, onFlushFailed });
    opened.defer(() => service.close());
    await Promise.race([begin(service, settings, log), stopAsked]);
    log.info({ signal: await stopAsked }, "stopping");
    await stop(service, log);
  } catch (error) {
    const { cause, closing } = causeOf(error);
    for (const err of closing) log.error({ err }, "closing failed");
    throw cause;
  } finally {
    closeLog();
  }
}

async function begin(service: Service, { publicUrl }: Settings, log: Logger): Promise<void> {
  await service.ready;
  const isTerminal = process.stdout.isTTY;
  if (isTerminal) print(`Pet Store is at ${publicUrl} (API: ${publicUrl}/v1, description: ${publicUrl}/openapi.json)`);
  await service.firstStart.make(print, isTerminal);
  log.info({ address: service.address, publicUrl, startedMs: Math.round(performance.now()) }, "started");
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, resolve);
  });
}

/** A second signal ends the process without waiting. A terminal may send the first one twice. */
async function stop(service: Service, log: Logger): Promise<void> {
  setTimeout(() => void stopSignal().then(() => process.exit(1)), sameSignalMs).unref();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => undefined);
  await service.close();
  log.info("stopped");
}

/** Signals within this time of the first are the same one: a terminal and npm may both send it. */
const sameSignalMs = 500;
const stopSignals = ["SIGTERM", "SIGINT"] as const;

export type Signals = {
  /** Resolves with the first signal to stop. */
  stop: Promise<NodeJS.Signals>;
  /** Whether such a signal has come. */
  stopAsked(): boolean;
  /** Calls `reload` at each SIGHUP, and at once if one came before. */
  onHangUp(reload: () => void): void;
};

let caught: Signals | undefined;

/**
 * Keeps signals from ending this process, and remembers them until the service can act on them. A second signal to stop ends the process
 * at once, with exit code 1. Runs before anything else is loaded, so this file imports nothing.
 */
export function catchSignals(): Signals {
  return (caught ??= openSignals());
}

function openSignals(): Signals {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  let firstAt: number | undefined;
  const onStop = (signal: NodeJS.Signals): void => {
    firstAt ??= performance.now();
    if (performance.now() - firstAt >= sameSignalMs) process.exit(1);
    resolve(signal);
  };
  for (const signal of stopSignals) process.on(signal, onStop);

  let wasSent = false;
  let onHangUp = (): void => void (wasSent = true);
  process.on("SIGHUP", () => onHangUp());
  return {
    stop: promise,
    stopAsked: () => firstAt !== undefined,
    onHangUp(reload) {
      onHangUp = reload;
      if (wasSent) reload();
    },
  };
}

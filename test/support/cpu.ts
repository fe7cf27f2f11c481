type Run = () => unknown;

/** Work that takes less than this (µs) is cheap, however it grows. */
const floorMicrosDefault = 200;
/** Work of one careful measurement (µs): far above the resolution of the clock and the cost of a pause. */
const workMicros = 3_000;
const callsMax = 4_096;
const measurements = 5;
const attempts = 6;

/** CPU time (µs) of this process for one call: the least of several measurements, each of as many calls as it takes to be exact. */
export async function cpuMicros(run: Run): Promise<number> {
  let calls = 1;
  for (;;) {
    const micros = await measured(run, calls);
    if (micros >= workMicros || calls >= callsMax) break;
    calls *= 4;
  }
  let least = Infinity;
  for (let i = 0; i < measurements; i++) least = Math.min(least, (await measured(run, calls)) / calls);
  return least;
}

async function measured(run: Run, calls: number): Promise<number> {
  const start = process.cpuUsage();
  for (let i = 0; i < calls; i++) {
    const result = run();
    if (result instanceof Promise) await result;
  }
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

/**
 * The factor by which the CPU time of a call grows when its input is four times as long: about 4 where it is linear, 16 where it
 * is quadratic, and 0 where even the long one takes less than `floorMicros`. Other work on the machine only ever adds, so the
 * least of several attempts counts.
 *
 * @param of makes the call for a length; what it does outside of the call is not measured
 */
export async function growthOf(of: (length: number) => Run, length: number, floorMicros = floorMicrosDefault): Promise<number> {
  const long = of(4 * length);
  for (let i = 0; i < 3; i++) if ((await measured(long, 1)) < floorMicros) return 0;
  const short = of(length);
  let least = Infinity;
  for (let i = 0; i < attempts && least > 5; i++) {
    const micros = await cpuMicros(long);
    if (micros < floorMicros) return 0;
    least = Math.min(least, micros / (await cpuMicros(short)));
  }
  return least;
}

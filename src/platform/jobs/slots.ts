/** Refuses what would wait behind `waitingMax` others, by throwing what `refusal` makes. */
type Queue = { waitingMax: number; refusal: () => Error };

/** Runs at most so many at once, the others in turn. How many may wait is up to its callers, where no queue is given. */
export function slots(atOnce: number, queue?: Queue): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free === 0) {
      if (queue && waiting.length >= queue.waitingMax) throw queue.refusal();
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else free--;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}

import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export type Direction = "questions" | "answers";

/**
 * A proxy between a service and a server that it needs. While it is cut it passes nothing on and closes nothing. Once it is mended it
 * passes on the bytes that were sent meanwhile, as TCP does: no byte of a stream is ever left out.
 */
export type Line = {
  url: string;
  /** Default: both directions. */
  cut(direction?: Direction): void;
  mend(): void;
  /** Mends the line for connections opened from now on; bytes on the cut connections arrive once `mend` is called. */
  mendForNew(): void;
  /** Passes on what was sent on connections that were cut; new ones stay cut. */
  deliverOld(): void;
  /** Connections opened from now on lead to another server. */
  leadTo(url: string): void;
  /** Every byte arrives this much later, in each direction. */
  delay(ms: number): void;
  close(): void;
};

/** A line to the server of a URL; its own `url` leads through it. */
export async function openLine(url: string): Promise<Line> {
  let far = new URL(url);
  const open = new Map<Socket, Direction>();
  const isCut = { questions: false, answers: false };
  let old: Socket[] = [];
  let delayMs = 0;
  const listener = createServer((near) => {
    const onward = connect(Number(far.port), far.hostname);
    pass(near, onward, "questions");
    pass(onward, near, "answers");
  }).listen(0, "127.0.0.1");

  function pass(from: Socket, to: Socket, direction: Direction): void {
    const later: Buffer[] = [];
    open.set(from, direction);
    from.on("data", (bytes: Buffer) => {
      if (delayMs === 0 && later.length === 0) return void to.write(bytes);
      later.push(bytes);
      setTimeout(() => to.write(later.shift()!), delayMs);
    });
    from.on("error", () => undefined).on("close", () => (open.delete(from), to.destroy()));
    if (isCut[direction]) from.pause();
  }

  await once(listener, "listening");
  const near = new URL(url);
  near.port = String((listener.address() as AddressInfo).port);
  return {
    url: near.href,
    cut(only) {
      for (const direction of ["questions", "answers"] as const) if (only === undefined || only === direction) isCut[direction] = true;
      old = [...open.keys()].filter((socket) => isCut[open.get(socket)!]);
      for (const socket of old) socket.pause();
    },
    mend() {
      isCut.questions = isCut.answers = false;
      for (const socket of open.keys()) socket.resume();
    },
    mendForNew: () => void (isCut.questions = isCut.answers = false),
    deliverOld: () => old.forEach((socket) => void socket.resume()),
    leadTo: (other) => void (far = new URL(other)),
    delay: (ms) => void (delayMs = ms),
    close() {
      listener.close();
      for (const socket of open.keys()) socket.destroy();
    },
  };
}

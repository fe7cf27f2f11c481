import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/**
 * What stands between a service and a server that it needs. While it is cut nothing passes and nothing is closed; mended, it
 * passes on what was sent meanwhile, as TCP does: of a stream nothing is ever missing in between.
 */
export type Line = { url: string; cut(): void; mend(): void; close(): void };

/** A line to the server of a URL; its own `url` leads through it. */
export async function openLine(url: string): Promise<Line> {
  const far = new URL(url);
  const open = new Set<Socket>();
  let isCut = false;
  const listener = createServer((near) => {
    const onward = connect(Number(far.port), far.hostname);
    for (const [from, to] of [
      [near, onward],
      [onward, near],
    ] as const) {
      open.add(from);
      from.on("data", (bytes) => void to.write(bytes));
      from.on("error", () => undefined).on("close", () => (open.delete(from), to.destroy()));
      if (isCut) from.pause();
    }
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const near = new URL(url);
  near.port = String((listener.address() as AddressInfo).port);
  return {
    url: near.href,
    cut() {
      isCut = true;
      for (const socket of open) socket.pause();
    },
    mend() {
      isCut = false;
      for (const socket of open) socket.resume();
    },
    close() {
      listener.close();
      for (const socket of open) socket.destroy();
    },
  };
}

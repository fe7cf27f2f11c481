import type { Socket } from "node:net";

/** Node's parser of a connection. Its callbacks are properties with numbers as names, which are constants of its class. */
type Parser = Record<number, unknown> & {
  constructor: Partial<Record<"kOnHeaders" | "kOnHeadersComplete" | "kOnBody" | "kOnMessageComplete", number>>;
};

const stopped = new WeakSet<Socket>();

/**
 * Makes Node's parser ignore everything else that it reads from a connection, which must then be closed: the rest of a body, and later
 * requests. Node has no public way to stop within one read, whose 64 KiB can contain 10,000 chunks or 3,600 requests.
 */
export function stopParsing(socket: Socket & { parser?: Parser | null }): void {
  const { parser } = socket;
  if (!parser || stopped.has(socket)) return;
  stopped.add(socket);
  const { kOnHeaders, kOnHeadersComplete, kOnBody, kOnMessageComplete } = parser.constructor;
  const numbers = [kOnHeaders, kOnHeadersComplete, kOnBody, kOnMessageComplete].filter((number) => number !== undefined);
  const callbacks = numbers.map((number) => parser[number]);
  for (const number of numbers) parser[number] = undefined;
  // Node gives the parser to another connection after this event
  socket.once("close", () => numbers.forEach((number, i) => (parser[number] = callbacks[i])));
}

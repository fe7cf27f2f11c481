import { once } from "node:events";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** Stands for the values that a later version adds to the lists that the description calls extensible. */
const laterValue = "later_value";

export type LaterVersion = { address: string; close(): Promise<void> };

/**
 * Answers as a later version of the service might: passes each request on to the service, and adds a field to each object of its answers.
 * Each event has a type and an actor that this version does not know, and each refusal a code.
 */
export async function startLaterVersion(service: string): Promise<LaterVersion> {
  const server = createServer((asked, answer) => void pass(asked, answer, service).catch(() => answer.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function pass(asked: IncomingMessage, answer: ServerResponse, service: string): Promise<void> {
  const { method, url = "/", headers } = asked;
  const passed = request(new URL(url, service), { method, headers: { ...headers, "accept-encoding": "identity" } });
  asked.pipe(passed);
  const [received] = (await once(passed, "response")) as [IncomingMessage];
  const bytes = await buffer(received);
  const isJson = received.headers["content-type"]?.startsWith("application/json") === true && url.startsWith("/v1/");
  const body = isJson && bytes.length > 0 ? JSON.stringify(later(JSON.parse(bytes.toString()))) : bytes;
  answer.writeHead(received.statusCode ?? 500, headersOf(received)).end(body);
}

/** The headers of an answer as they were spelt, for clients to which case matters, without those of the connection. */
function headersOf({ rawHeaders }: IncomingMessage): string[] {
  const ofConnection = new Set(["content-length", "connection", "keep-alive", "transfer-encoding"]);
  const pairs = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ""]] : []));
  return pairs.filter(([name = ""]) => !ofConnection.has(name.toLowerCase())).flat();
}

function later(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(later);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, later(member)]));
  const isEvent = "hash" in members && "type" in members;
  const isActor = "type" in members && Object.keys(members).length === 3;
  const isRefusal = "code" in members && "status" in members;
  return {
    ...members,
    ...((isEvent || isActor) && { type: laterValue }),
    ...(isRefusal && { code: laterValue }),
    laterField: { isNew: true, notes: ["a field that a later version added"] },
  };
}

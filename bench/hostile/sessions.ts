import { connect, type ClientHttp2Session } from "node:http2";
import { connect as connectTls } from "node:tls";
import { residentMiB } from "../cpu.ts";
import { largeFile, type Scene } from "./scene.ts";

const sessions = 200;
const streamsEach = 100;
const heldMs = 5_000;
const lookEveryMs = 100;

/** Returns the most memory (MiB) that HTTP/2 sessions take which request a large file but never open a window, each from another address. */
export async function memoryOfSessions({ shop, edge }: Scene): Promise<number> {
  const before = residentMiB(shop.pid);
  const held = await holdSessions(edge);
  let most = 0;
  for (const end = performance.now() + heldMs; performance.now() < end;) {
    most = Math.max(most, residentMiB(shop.pid));
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  for (const session of held) session.destroy();
  return most - before;
}

/** Opens the sessions with all their streams. */
export async function holdSessions({ port, servername }: Scene["edge"]): Promise<ClientHttp2Session[]> {
  const opened: Promise<ClientHttp2Session | undefined>[] = [];
  for (let nth = 0; nth < sessions; nth++) opened.push(openSession(port, servername, `127.0.${1 + (nth >> 7)}.${1 + (nth & 127)}`));
  return (await Promise.all(opened)).filter((session) => session !== undefined);
}

function openSession(port: number, servername: string, localAddress: string): Promise<ClientHttp2Session | undefined> {
  const place = { host: "127.0.0.1", port, servername, localAddress };
  const session = connect(`https://${servername}:${port}`, {
    createConnection: () => connectTls({ ...place, ALPNProtocols: ["h2"], rejectUnauthorized: false }),
    settings: { initialWindowSize: 0 },
  });
  return new Promise((resolve) => {
    session.on("error", () => resolve(undefined)).on("close", () => resolve(undefined));
    session.once("connect", () => {
      for (let i = 0; i < streamsEach; i++) session.request({ ":path": largeFile }).on("error", () => undefined);
      resolve(session);
    });
  });
}

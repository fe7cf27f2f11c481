import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";

/** Below the ports that systems assign to connections and to listeners without a port (Linux from 32768, others from 49152). */
const portsFrom = 20_000;
const portsTo = 32_000;
const portTries = 100;

/**
 * Returns free ports, for programs that cannot choose one themselves and for servers that come back on the same port. Nothing else
 * gets them while this process runs: the process that holds the UDP port of the same number has the port.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count && tries < portTries; tries++) {
    const port = randomInt(portsFrom, portsTo);
    if ((await reserve(port)) && (await isFree(port))) ports.push(port);
  }
  if (ports.length < count) throw new Error(`no ${count} ports are free`);
  return ports;
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

function reserve(port: number): Promise<boolean> {
  const token = createSocket("udp4");
  return new Promise((done) => {
    token.once("error", () => done(false));
    token.bind({ port, address: "127.0.0.1", exclusive: true }, () => {
      token.unref();
      done(true);
    });
  });
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const free = await new Promise<boolean>((done) => {
    server.once("error", () => done(false)).listen(port, "127.0.0.1", () => done(true));
  });
  if (free) await new Promise((done) => server.close(done));
  return free;
}

import { join } from "node:path";
import { settingsFor } from "./authorities.ts";
import { petstore, type Ended } from "./commands.ts";
import { startDnsServer, type DnsServer } from "./dns-server.ts";
import { visitorOf, type Visitor } from "./edge.ts";
import { temporaryFolder } from "./folder.ts";
import { startPebble } from "./pebble.ts";
import { freePorts } from "./ports.ts";
import { addressOf, keyIn, signInLinkIn, spawnServer, type Ending, type ServerProcess } from "./process.ts";

/** The service as its operator has it on the first day: a process on an empty folder, DNS and an authority that it can reach. */
export type FirstStart = {
  server: ServerProcess;
  /** The origin that people see. */
  address: string;
  /** The port of published projects over HTTP. */
  edgePort: number;
  /** What the first start printed, once. */
  key: string;
  link: string;
  dns: DnsServer;
  visitor: Visitor;
  /** Runs `petstore` beside the service, with this key. */
  petstore: (key: string, ...words: string[]) => Promise<Ended>;
};

/** Starts the service for the first time, with `petstore.localhost` as its platform. */
export async function startFirst(t: Ending): Promise<FirstStart> {
  const dns = await startDnsServer();
  t.after(() => dns.close());
  dns.set("petstore.localhost", "A", ["127.0.0.1"]);
  const [port, httpPort, httpsPort] = (await freePorts(3)) as [number, number, number];
  const pebble = await startPebble({ dns: dns.address, httpPort, tlsPort: httpsPort });
  t.after(() => pebble.stop());
  const dataDir = join(temporaryFolder(t), "data");
  const server = spawnServer(t, dataDir, {
    PORT: String(port),
    EDGE_HTTP_PORT: String(httpPort),
    EDGE_HTTPS_PORT: String(httpsPort),
    ...settingsFor({ dns, pebble }),
  });
  await addressOf(server);
  const address = `http://localhost:${port}`;
  return {
    server,
    address,
    edgePort: httpPort,
    key: keyIn(server.out()),
    link: signInLinkIn(server.out()),
    dns,
    visitor: visitorOf({ httpPort, httpsPort, root: await pebble.root() }),
    petstore: (key, ...words) => petstore({ dataDir, address, key }, ...words),
  };
}

import { cpSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDnsServer } from "./dns-server.ts";
import { examplePicture } from "./pictures.ts";
import { startService, type TestService } from "./service.ts";
import { exampleSite, fillWithExamples } from "./shop.ts";

/** Shops in which everything exists that the examples of the description name, each in a service of its own. */
export type ExampleShops = {
  /** The DNS server that the services ask. */
  dns: string;
  /** The site that the examples upload. It is in the folder too, as `site.tar.gz`, beside the photo `rex.jpg`. */
  site: Uint8Array;
  open(): Promise<TestService>;
  close(): Promise<void>;
};

const moment = Date.UTC(2026, 11, 24, 10);

/** Fills a shop once. Each shop that opens is a copy of it in the folder. */
export async function startExampleShops(folder: string): Promise<ExampleShops> {
  const dns = await startDnsServer();
  dns.set("petstore.localhost", "A", ["127.0.0.1"]);
  for (const name of ["www", "shop"]) dns.set(`${name}.example.com`, "CNAME", ["petstore.localhost"]);
  const site = await exampleSite();
  writeFileSync(join(folder, "site.tar.gz"), site);
  writeFileSync(join(folder, "rex.jpg"), examplePicture);

  const options = { clock: () => moment, env: { DNS_SERVERS: dns.address, EDGE_PUBLIC_HTTP_PORT: "8081" } };
  const filled = join(folder, "filled");
  const first = await startService({ ...options, dataDir: filled });
  await fillWithExamples(first);
  await first.close();
  return {
    dns: dns.address,
    site,
    async open() {
      const dataDir = mkdtempSync(join(folder, "shop-"));
      cpSync(filled, dataDir, { recursive: true });
      const service = await startService({ ...options, dataDir });
      return { ...service, key: first.key, ask: (method, path, asked) => service.ask(method, path, { key: first.key, ...asked }) };
    },
    close: () => dns.close(),
  };
}

import { startDnsServer, type DnsServer } from "./dns-server.ts";
import { startPebble, type Pebble, type PebbleSettings } from "./pebble.ts";
import { freePorts } from "./ports.ts";

/** The Pebble authority, the DNS server that it asks, and the ports on which it expects answers to its challenges. */
export type Authority = { pebble: Pebble; root: string; dns: DnsServer; httpPort: number; httpsPort: number; close(): Promise<void> };

/** The settings of a service that uses this authority and its DNS server. */
export function settingsFor(
  { dns, pebble }: Pick<Authority, "dns" | "pebble">,
  directoryUrl: string = pebble.directoryUrl,
): Record<string, string> {
  return {
    DNS_SERVERS: dns.address,
    ACME_DIRECTORY_URL: directoryUrl,
    ACME_CA_FILE: pebble.caFile,
    ACME_CAA_IDENTITIES: "ca.test",
  };
}

const unused: Authority[] = [];

/**
 * Opens an authority that nothing else uses, whose DNS server is empty. Tests of one process that follow each other get the same one, unless
 * they need other settings: Pebble makes two RSA keys at its start, which costs far more than the certificates of a test.
 */
export async function openAuthority(settings?: Partial<PebbleSettings>): Promise<Authority> {
  if (settings) return startAuthority(settings);
  const authority = unused.pop() ?? (await startLastingAuthority());
  return {
    ...authority,
    async close() {
      authority.dns.clear();
      unused.push(authority);
    },
  };
}

/** Starts an authority that ends with this process, and does not keep it alive. */
async function startLastingAuthority(): Promise<Authority> {
  const authority = await startAuthority();
  for (const one of [authority.dns, authority.pebble]) one.unref();
  return authority;
}

async function startAuthority(settings: Partial<PebbleSettings> = {}): Promise<Authority> {
  await using opened = new AsyncDisposableStack();
  const dns = await startDnsServer();
  opened.defer(() => dns.close());
  const [httpPort = 0, httpsPort = 0] = await freePorts(2);
  const pebble = await startPebble({ dns: dns.address, httpPort, tlsPort: httpsPort, ...settings });
  opened.defer(() => pebble.stop());
  const root = await pebble.root();
  const all = opened.move();
  return { pebble, root, dns, httpPort, httpsPort, close: () => all.disposeAsync() };
}

import { getServers } from "node:dns";
import type { Feed } from "../events/log/feed.ts";
import { openDeliveryEngine, type DeliveryEngine } from "../events/webhooks/delivery-engine.ts";
import { AddressError, type AddressRules, type Resolve } from "../events/webhooks/endpoint-url.ts";
import { openSender } from "../events/webhooks/sender.ts";
import type { Bounds } from "../platform/bounds.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/db/database.ts";
import type { Node } from "../platform/nodes/nodes.ts";
import { openRowLeases } from "../platform/nodes/row-leases.ts";
import type { SecretsKeys } from "../platform/secrets.ts";
import { createDns, type Dns } from "../publishing/dns/dns.ts";
import type { Settings } from "./settings.ts";
import type { Tracing } from "./tracing.ts";

type Parts = {
  settings: Pick<Settings, "dnsServers" | "webhookPrivateAddresses">;
  db: Database;
  clock: Clock;
  keys: SecretsKeys;
  node: Node;
  feed: Feed;
  bounds: Bounds;
  onError: (error: unknown) => void;
  tracing: Tracing | undefined;
};

/** How long (ms) a DNS server may take, and a look-up may wait for its turn. An attempt has ten seconds in all. */
const dnsTimeoutMs = 2_000;
const dnsWaitMs = 10_000;

export type Webhooks = {
  engine: DeliveryEngine;
  /** The services of the webhook operations, besides the announcer. */
  services: { webhookKeys: SecretsKeys; webhookAddresses: AddressRules };
};

/** Opens the delivery of webhooks, which resolves host names with the DNS servers of the settings. */
export function openWebhooks({ settings, node, bounds, tracing, ...parts }: Parts): Webhooks {
  const servers = settings.dnsServers.length > 0 ? settings.dnsServers : getServers();
  const resolve = resolverOf(createDns({ servers, timeoutMs: dnsTimeoutMs, tries: 1 }, bounds.queue("dns", { waitMs: dnsWaitMs })));
  const rules: AddressRules = { privateAddresses: settings.webhookPrivateAddresses, resolve };
  const sender = openSender(rules);
  const places = { places: bounds.queue<number>("deliveries"), failingPlaces: bounds.queue<number>("failing_deliveries") };
  const engine = openDeliveryEngine({
    ...parts,
    ...places,
    sender,
    leases: openRowLeases(node, parts.clock),
    onAttempt: tracing?.onDelivery,
  });
  return { engine, services: { webhookKeys: parts.keys, webhookAddresses: rules } };
}

function resolverOf(dns: Dns): Resolve {
  return async (hostname, accountId) => {
    const found = await Promise.all([dns.lookUp(hostname, "A", accountId), dns.lookUp(hostname, "AAAA", accountId)]);
    const addresses = found.flatMap((one) => (one.outcome === "records" ? one.records.map(({ value }) => value) : []));
    const failed = found.find((one) => one.outcome === "failed");
    if (addresses.length === 0 && failed) throw new AddressError(`has a host that DNS does not answer for: ${failed.reason}`);
    return addresses;
  };
}

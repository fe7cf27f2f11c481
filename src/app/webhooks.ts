import { getServers } from "node:dns";
import type { Feed } from "../events/log/feed.ts";
import { openDeliveryWorker, type DeliveryWorker } from "../events/webhooks/delivery-worker.ts";
import { AddressError, type AddressRules, type Resolve } from "../events/webhooks/endpoint-url.ts";
import { addressesOfEither } from "../platform/http-client.ts";
import type { Bounds } from "../platform/bounds.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/db/database.ts";
import type { Node } from "../platform/nodes/nodes.ts";
import type { SecretsKeys } from "../platform/secrets.ts";
import { createDns, type Dns } from "../publishing/dns/lookup.ts";
import type { PhotoFetchServices } from "../store/profiles/profiles.ts";
import { openPhotoFetches, type PhotoFetches } from "./imports.ts";
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
  worker: DeliveryWorker;
  /** The services of the webhook operations, besides the announcer, and those of downloads for a request. */
  services: { webhookKeys: SecretsKeys; webhookAddresses: AddressRules } & PhotoFetchServices;
  /** Downloads of photos: their addresses follow the rules of webhooks. */
  fetches: PhotoFetches;
};

/** Opens the delivery of webhooks, which resolves host names with the DNS servers of the settings. */
export function openWebhooks({ settings, node, bounds, tracing, ...parts }: Parts): Webhooks {
  const servers = settings.dnsServers.length > 0 ? settings.dnsServers : getServers();
  const resolve = resolverOf(createDns({ servers, timeoutMs: dnsTimeoutMs, tries: 1 }, bounds.queue("dns", { waitMs: dnsWaitMs })));
  const rules: AddressRules = { privateAddresses: settings.webhookPrivateAddresses, resolve };
  const worker = openDeliveryWorker({ ...parts, node, bounds, addresses: rules, onAttempt: tracing?.onDelivery });
  const fetches = openPhotoFetches(rules, bounds);
  return { worker, fetches, services: { webhookKeys: parts.keys, webhookAddresses: rules, fetchPhoto: fetches.fetchPhoto } };
}

function resolverOf(dns: Dns): Resolve {
  return (hostname, accountId) => {
    const ofFamily = async (type: "A" | "AAAA"): Promise<string[]> => {
      const found = await dns.lookUp(hostname, type, accountId);
      if (found.outcome === "failed") throw new AddressError(`has a host that DNS does not answer for: ${found.reason}`);
      return found.outcome === "records" ? found.records.map(({ value }) => value) : [];
    };
    return addressesOfEither([ofFamily("A"), ofFamily("AAAA")]);
  };
}

import { getServers } from "node:dns";
import type { Feed } from "../events/log/feed.ts";
import { openDeliveryWorker, type DeliveryWorker } from "../events/webhooks/delivery-worker.ts";
import { AddressError, type AddressRules, type Resolve } from "../events/webhooks/endpoint-url.ts";
import { addressesOfEither } from "../platform/http-client.ts";
import type { SecretsKeys } from "../platform/secrets.ts";
import { createDns, type Dns } from "../publishing/dns/lookup.ts";
import type { PhotoFetchServices } from "../store/profiles/profiles.ts";
import type { AppContext } from "./context.ts";
import { openPhotoFetches, type PhotoFetches } from "./imports.ts";

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
export function openWebhooks(context: AppContext, feed: Feed): Webhooks {
  const { settings, keys, bounds, tracing } = context;
  const servers = settings.dnsServers.length > 0 ? settings.dnsServers : getServers();
  const resolve = resolverOf(createDns({ servers, timeoutMs: dnsTimeoutMs, tries: 1 }, bounds.queue("dns", { waitMs: dnsWaitMs })));
  const rules: AddressRules = { privateAddresses: settings.webhookPrivateAddresses, resolve };
  const worker = openDeliveryWorker({ ...context, feed, addresses: rules, onAttempt: tracing?.onDelivery });
  const fetches = openPhotoFetches(rules, bounds);
  return { worker, fetches, services: { webhookKeys: keys, webhookAddresses: rules, fetchPhoto: fetches.fetchPhoto } };
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

import sql from "sql-template-tag";
import { findKey } from "../callers/keys/keys.store.ts";
import { hasExpired } from "../callers/keys/keys.ts";
import { listSessions } from "../callers/members/sessions.store.ts";
import type { EventServices } from "../events/log/events.routes.ts";
import { type Feed, openFeed } from "../events/log/feed.ts";
import { openListeners } from "../events/log/listeners.ts";
import type { Numbering } from "../events/log/numbering.ts";
import { type DeliveryWorker, openDeliveryWorker } from "../events/webhooks/delivery-worker.ts";
import { AddressError, type AddressRules, type Resolve } from "../events/webhooks/endpoint-url.ts";
import type { EndedAttempt } from "../events/webhooks/session.ts";
import type { Bounds } from "../platform/bounds.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/db/database.ts";
import { addressesOfEither } from "../platform/http-client.ts";
import type { Rewinds } from "../platform/nodes/rewinds.ts";
import type { SecretsKeys } from "../platform/secrets.ts";
import { createDns, type Dns } from "../publishing/dns/lookup.ts";
import type { PhotoFetchServices } from "../store/profiles/profiles.ts";
import type { AppContext } from "./context.ts";
import { openPhotoFetches, type PhotoFetches } from "./imports.ts";
import type { Settings } from "./settings.ts";
import type { Storage } from "./storage.ts";

export type Events = {
  feed: Feed;
  /** Called after each commit that recorded events. */
  onEvents: (accountIds: readonly number[]) => void;
  /** Begins to number the events of PostgreSQL as soon as the database is up to date, until `opened` is disposed of. */
  start(storage: Pick<Storage, "db" | "ready">, opened: AsyncDisposableStack): void;
};

/** The event log of this process. The embedded database numbers events as it commits them; on PostgreSQL one of the nodes does. */
export function openEvents({ databaseUrl }: Pick<Settings, "databaseUrl">, onError: (error: unknown) => void): Events {
  const feed = openFeed();
  let numbering: Numbering | undefined;
  let isClosed = false;
  return {
    feed,
    onEvents: (accountIds) => (databaseUrl === "" ? feed.report(accountIds) : numbering?.wake()),
    start({ db, ready }, opened) {
      if (db.engine === "sqlite") return void ready.then(() => numberRestored(db)).catch(onError);
      opened.defer(async () => {
        isClosed = true;
        await numbering?.close();
      });
      const open = async (): Promise<void> => {
        const { openNumbering } = await import("../events/log/numbering.ts"); // loads the client of PostgreSQL
        if (!isClosed) numbering = openNumbering({ db, onError }, databaseUrl, feed.report);
      };
      ready.then(open, () => undefined); // the service reports why the database never became ready
    },
  };
}

/** Numbers events that came without positions, from a backup of PostgreSQL or a move from it. Any commit numbers them. */
async function numberRestored(db: Database): Promise<void> {
  const waiting = await db.query(sql`SELECT 1 FROM event_outbox LIMIT 1`);
  if (waiting.length > 0) await db.write(async () => undefined);
}

const scope = "events:read";

/** The services of the operations on events. `liveNodes` returns the number of nodes, which share the streams of an account. */
export function eventServices(db: Database, clock: Clock, feed: Feed, liveNodes: () => number, bounds: Bounds): EventServices {
  return {
    listeners: openListeners(feed, liveNodes, bounds),
    exports: bounds.queue<number>("exports"),
    async mayRead({ accountId, keyId, person }) {
      if (person) {
        const sessions = await listSessions(db, accountId, person.memberId, clock());
        return sessions.some(({ id }) => id === person.sessionId);
      }
      const key = keyId === undefined ? undefined : await findKey(db, keyId);
      return key !== undefined && key.scopes.includes(scope) && !hasExpired(key.expiresAt, clock());
    },
  };
}

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

/** Opens the delivery of webhooks, which resolves host names with the DNS servers of the settings. `rewinds` remembers the events that are sent. */
export function openWebhooks(context: AppContext, feed: Feed, rewinds: Pick<Rewinds, "noteSent"> | undefined): Webhooks {
  const { settings, keys, bounds, tracing } = context;
  const resolve = resolverOf(
    createDns({ servers: settings.dnsServers, timeoutMs: dnsTimeoutMs, tries: 1 }, bounds.queue("dns", { waitMs: dnsWaitMs })),
  );
  const rules: AddressRules = { privateAddresses: settings.webhookPrivateAddresses, resolve };
  const onAttempt = (sent: EndedAttempt): void => {
    tracing?.onDelivery(sent);
    const { accountId, webhookId, position, messageId } = sent;
    if (sent.isDelivered && position !== null) rewinds?.noteSent({ accountId, webhookId, position, messageId });
  };
  const worker = openDeliveryWorker(context, { feed, addresses: rules, onAttempt });
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

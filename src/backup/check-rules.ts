import { eventOverheadBytes } from "../platform/event-storage.ts";

/** How many faults of one kind, or things in one list, a check names. */
export const namedMax = 20;

/** A rule of all data: a query that returns the rows that break it, and the fault that describes one of them. */
export type Rule = { what: string; query: string; say: (row: Record<string, unknown>) => string };

const inAccount = (row: Record<string, unknown>): string => `account ${String(row["account_id"])}`;

/** Stock (specification 2.5 and 2.6): what open orders hold is what the entry counts as held, and each status follows from the counts. */
const stockRules: Rule[] = [
  {
    what: "stock is never negative",
    query: "SELECT account_id, pet_id, quantity, held FROM inventory WHERE quantity < 0 OR held < 0",
    say: (row) =>
      `pet ${String(row["pet_id"])} of ${inAccount(row)} has ${String(row["quantity"])} free and ${String(row["held"])} held units`,
  },
  {
    what: "open orders hold what the stock counts as held",
    query: `SELECT entry.account_id, entry.pet_id, entry.held, COALESCE(taken.held, 0) AS taken FROM inventory entry
      LEFT JOIN (SELECT account_id, pet_id, SUM(held) AS held FROM orders WHERE complete = FALSE AND held > 0 GROUP BY account_id, pet_id) taken
        ON taken.account_id = entry.account_id AND taken.pet_id = entry.pet_id
      WHERE entry.held <> COALESCE(taken.held, 0)`,
    say: (row) =>
      `pet ${String(row["pet_id"])} of ${inAccount(row)} has ${String(row["held"])} held units, and its open orders hold ${String(row["taken"])}`,
  },
  {
    what: "only an open order for a tracked pet holds units, and no more than its quantity",
    query: `SELECT account_id, id, held FROM orders WHERE held <> 0 AND (complete = TRUE OR held < 0 OR held > quantity OR pet_id IS NULL
      OR NOT EXISTS (SELECT 1 FROM inventory WHERE inventory.account_id = orders.account_id AND inventory.pet_id = orders.pet_id))`,
    say: (row) => `order ${String(row["id"])} of ${inAccount(row)} must not hold ${String(row["held"])} units`,
  },
  {
    what: "the status of a stock entry follows from its counts",
    query: `SELECT account_id, pet_id, status, quantity, held FROM inventory
      WHERE status <> CASE WHEN quantity > 0 THEN 'available' WHEN held > 0 THEN 'pending' ELSE 'sold' END`,
    say: (row) =>
      `the stock entry of pet ${String(row["pet_id"])} of ${inAccount(row)} is ${String(row["status"])} with ${String(row["quantity"])} free and ${String(row["held"])} held units`,
  },
  {
    what: "the status of a tracked pet is that of its stock",
    query: `SELECT pets.account_id, pets.id, pets.status, inventory.status AS expected FROM pets
      JOIN inventory ON inventory.account_id = pets.account_id AND inventory.pet_id = pets.id WHERE pets.status <> inventory.status`,
    say: (row) => `pet ${String(row["id"])} of ${inAccount(row)} is ${String(row["status"])}, and its stock is ${String(row["expected"])}`,
  },
];

const recordsOf = (table: string, condition = ""): string =>
  `SELECT account_id, COUNT(*) AS found FROM ${table} ${condition} GROUP BY account_id`;

/** The count that is stored for an account equals the rows. `more` selects further counts of an account's rows. */
const countRules = (more = ""): Rule[] => [
  {
    what: "the records of an account are counted",
    query: `SELECT counted.account_id, counted.used, COALESCE(own.found, 0) AS found
      FROM (SELECT account_id, SUM(used) AS used FROM storage_quotas WHERE kind = 'records' GROUP BY account_id) counted
      LEFT JOIN (SELECT account_id, SUM(found) AS found FROM (
        ${recordsOf("pets")} UNION ALL ${recordsOf("categories")} ${more} UNION ALL ${recordsOf("orders", "WHERE complete = FALSE")}) every_record GROUP BY account_id) own ON own.account_id = counted.account_id
      WHERE counted.used <> COALESCE(own.found, 0)`,
    say: (row) => `${inAccount(row)} has ${String(row["found"])} records, and its storage counts ${String(row["used"])}`,
  },
];

/** Each file of an account's deployments counts once. `more` selects further rows of an account and its bytes, which count too. */
const publishedBytes = (more = ""): Rule => ({
  what: "the published bytes of an account are counted",
  query: `SELECT counted.account_id, counted.used, COALESCE(own.found, 0) AS found
    FROM (SELECT account_id, SUM(used) AS used FROM storage_quotas WHERE kind = 'published_bytes' GROUP BY account_id) counted
    LEFT JOIN (SELECT account_id, SUM(bytes) AS found FROM (
      SELECT account_id, bytes FROM (SELECT DISTINCT account_id, hash, bytes FROM files) each_file ${more}) every_file GROUP BY account_id) own
      ON own.account_id = counted.account_id
    WHERE counted.used <> COALESCE(own.found, 0)`,
  say: (row) => `${inAccount(row)} has published ${String(row["found"])} bytes, and its storage counts ${String(row["used"])}`,
});

const bytesIn = (table: string): string => ` UNION ALL SELECT account_id, bytes FROM ${table}`;

/** An animal is in the shop or in the bin, never in both, and only one with a profile has photos (specification 2.11). */
const binRules: Rule[] = [
  {
    what: "no animal is in the bin and in the shop",
    query: "SELECT bin.account_id, pet_id FROM bin JOIN pets ON pets.account_id = bin.account_id AND pets.id = pet_id",
    say: (row) => `pet ${String(row["pet_id"])} of ${inAccount(row)} is in the bin too, from where it cannot return`,
  },
  {
    what: "an animal in the bin that has photos has a profile",
    query: `SELECT DISTINCT bin.account_id, bin.pet_id FROM bin
      JOIN bin_photo_files ON bin_photo_files.account_id = bin.account_id AND bin_photo_files.pet_id = bin.pet_id WHERE profile_version IS NULL`,
    say: (row) => `pet ${String(row["pet_id"])} of ${inAccount(row)}, which is in the bin, has photos but no profile to return them to`,
  },
];

const bytesOfEvents = `SUM(octet_length(text) + ${eventOverheadBytes})`;

/** The bytes of events are counted: those of each log, and those of the audit that are older, by day and type (specification 8.8). */
const eventRules: Rule[] = [
  {
    what: "the bytes of each event log are counted",
    query: `SELECT event_storage.account_id, log_bytes, audit_bytes, COALESCE(log.bytes, 0) AS log_found, COALESCE(audit.bytes, 0) AS audit_found
      FROM event_storage
      LEFT JOIN (SELECT events.account_id, ${bytesOfEvents} AS bytes FROM events LEFT JOIN event_starts ON event_starts.account_id = events.account_id
        WHERE events.position >= COALESCE(event_starts.position, 1) GROUP BY events.account_id) AS log ON log.account_id = event_storage.account_id
      LEFT JOIN (SELECT account_id, SUM(bytes) AS bytes FROM audit_storage GROUP BY account_id) AS audit ON audit.account_id = event_storage.account_id
      WHERE log_bytes <> COALESCE(log.bytes, 0) OR audit_bytes <> COALESCE(audit.bytes, 0)`,
    say: (row) =>
      `the event log of ${inAccount(row)} has ${String(row["log_found"])} bytes and ${String(row["audit_found"])} of the audit, and its storage counts ${String(row["log_bytes"])} and ${String(row["audit_bytes"])}`,
  },
  {
    what: "the events of the audit that are older than the log are counted by day and type",
    query: `SELECT account_id, day, type, SUM(counted) AS counted, SUM(found) AS found FROM (
        SELECT account_id, day, type, bytes AS counted, 0 AS found FROM audit_storage UNION ALL
        SELECT events.account_id, at / 86400000 AS day, type, 0 AS counted, ${bytesOfEvents} AS found
        FROM event_starts JOIN events ON events.account_id = event_starts.account_id AND events.position < event_starts.position
        GROUP BY events.account_id, at / 86400000, type) AS each_group GROUP BY account_id, day, type HAVING SUM(counted) <> SUM(found)`,
    say: (row) =>
      `${inAccount(row)} has ${String(row["found"])} bytes of old events ${String(row["type"])} of day ${String(row["day"])}, and its storage counts ${String(row["counted"])}`,
  },
];

/** A contact is deleted some time after its order was completed, so it must record when that was (specification 2.9). */
const contactRules: Rule[] = [
  {
    what: "a contact knows whether its order is complete",
    query: `SELECT contacts.account_id, order_id, complete FROM contacts
      JOIN orders ON orders.account_id = contacts.account_id AND orders.id = order_id WHERE (contacts.completed_at IS NOT NULL) <> complete`,
    say: (row) => {
      const state = row["complete"]
        ? "has no time of completion, so it would never be deleted"
        : "has a time of completion, and the order is open";
      return `the contact of order ${String(row["order_id"])} of ${inAccount(row)} ${state}`;
    },
  },
];

/** An order has both the price and its currency, or neither (decision 0121). */
const priceRules: Rule[] = [
  {
    what: "the price of an order has an amount and a currency",
    query: `SELECT account_id, id FROM orders WHERE (price_amount IS NULL) <> (price_currency IS NULL) OR price_amount < 0 OR length(price_currency) <> 3`,
    say: (row) => `order ${String(row["id"])} of ${inAccount(row)} has a price that is not whole`,
  },
];

/** A reservation either lapses some time or has ended, unless the shop has accepted it and its order is open (specification 2.10). */
const reservationRules: Rule[] = [
  {
    what: "a reservation lapses, has ended, or is accepted with an open order",
    query: `SELECT account_id, id, state FROM reservations WHERE state NOT IN ('open', 'accepted', 'refused', 'lapsed', 'cancelled')
      OR (lapses_at IS NOT NULL) <> (state = 'open') OR state <> 'accepted' AND (ended_at IS NULL) <> (state = 'open')
      OR state = 'accepted' AND order_id IS NULL AND ended_at IS NULL`,
    say: (row) =>
      `reservation ${String(row["id"])} of ${inAccount(row)} is ${String(row["state"])} with times that do not fit, so it would never end or be deleted`,
  },
];

/** References that no foreign key of the schema enforces. */
const referenceRules: Rule[] = [
  {
    what: "a live deployment belongs to its project and is ready",
    query: `SELECT account_id, id, deployment_id FROM projects WHERE deployment_id IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM deployments WHERE deployments.account_id = projects.account_id AND deployments.project_id = projects.id
        AND deployments.id = projects.deployment_id AND deployments.status = 'ready' AND deployments.manifest IS NOT NULL)`,
    say: (row) => `project ${String(row["id"])} of ${inAccount(row)} serves deployment ${String(row["deployment_id"])}, which is not there`,
  },
  {
    what: "a certificate is there for each domain that has one",
    query: `SELECT account_id, hostname, certificate_id FROM domains WHERE certificate_id IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM certificates WHERE certificates.account_id = domains.account_id AND certificates.hostname = domains.hostname)`,
    say: (row) => `domain ${String(row["hostname"])} of ${inAccount(row)} has no certificate ${String(row["certificate_id"])}`,
  },
];

/** The characters that separate words, other than the space. */
const otherSpaces = ["\t", "\n", "\v", "\f", "\r", "\u0085", "\u1680", "\u2028", "\u2029"];

/** The words by which a search finds pets follow their names (decision 0082). */
const wordRules: Rule[] = [
  {
    what: "the words of a search are those of the pet's name",
    query: `SELECT pet_words.account_id, pet_id, word FROM pet_words
      LEFT JOIN pets ON pets.account_id = pet_words.account_id AND pets.id = pet_id
      WHERE pets.id IS NULL OR pets.status <> pet_words.status OR pets.category_id <> pet_words.category_id
        OR is_split AND (replace(name_key, word, '') = name_key OR shared < 0 OR shared >= length(word))
        OR NOT is_split AND (word <> '' OR shared <> -1)`,
    say: (row) => `the search finds pet ${String(row["pet_id"])} of ${inAccount(row)} by a word that does not fit it`,
  },
  {
    what: "a pet is found by the later words of its name",
    // the last word, by its first character; a longer name may have more words than are kept
    query: `SELECT account_id, id FROM (
        SELECT account_id, id, name_key, substr(name_key, length(rtrim(name_key, replace(name_key, ' ', ''))) + 1, 1) AS begin FROM pets
        WHERE length(name_key) <= 32 AND name_key LIKE '% %' AND is_split) AS named
      WHERE begin NOT IN (${["", ...otherSpaces].map((space) => `'${space}'`).join(", ")}) AND begin <> substr(name_key, 1, 1) AND NOT EXISTS (
        SELECT 1 FROM pet_words WHERE pet_words.account_id = named.account_id AND pet_id = named.id AND shared = 0 AND substr(word, 1, 1) = begin)`,
    say: (row) => `the search does not find pet ${String(row["id"])} of ${inAccount(row)} by the later words of its name`,
  },
  {
    what: "a pet whose words are not written yet waits for them",
    query: `SELECT account_id, id FROM pets WHERE NOT is_split AND NOT EXISTS (
        SELECT 1 FROM pet_words WHERE pet_words.account_id = pets.account_id AND pet_id = pets.id)`,
    say: (row) => `the search will never find pet ${String(row["id"])} of ${inAccount(row)} by the later words of its name`,
  },
];

/** The facts by which lists filter follow their profiles and pets (decision 0122). */
const factRules: Rule[] = [
  {
    what: "a fact by which a list filters has the category and the status of its pet",
    query: `SELECT facts.account_id, pet_id, fact FROM facts LEFT JOIN pets ON pets.account_id = facts.account_id AND pets.id = pet_id
      WHERE pets.id IS NULL OR pets.status <> facts.status OR pets.category_id <> facts.category_id`,
    say: (row) =>
      `a list by ${String(row["fact"])} finds pet ${String(row["pet_id"])} of ${inAccount(row)} under a wrong category or status`,
  },
  {
    what: "lists filter by the facts that a profile has",
    // a quote within a value has a backslash before it, so the text of a value cannot look like the name of a fact
    query: `SELECT profiles.account_id, profiles.pet_id, named.fact FROM profiles
      CROSS JOIN (${["species", "breed", "sex", "born", "colour", "size"].map((name) => `SELECT '${name}' AS fact`).join(" UNION ALL ")}) AS named
      LEFT JOIN facts ON facts.account_id = profiles.account_id AND facts.pet_id = profiles.pet_id AND facts.fact = named.fact
      WHERE (profiles.facts IS NOT NULL AND profiles.facts LIKE '%"' || named.fact || '":%') <> (facts.fact IS NOT NULL)`,
    say: (row) =>
      `lists by ${String(row["fact"])} do not agree with the profile of pet ${String(row["pet_id"])} of ${inAccount(row)} on whether it has this fact`,
  },
];

/**
 * Groups of rules. Each applies if the schema has `table`, which earlier versions may lack, and does not have the table `unless`, for which there
 * is another version of the rules. `since` is the migration that made what the rules need, if no table of the dump says so.
 */
export const rules: { table: string; unless?: string; since?: number; rules: Rule[] }[] = [
  { table: "pets", since: 44, rules: wordRules },
  { table: "inventory", rules: stockRules },
  { table: "storage_quotas", unless: "imports", rules: countRules(`UNION ALL ${recordsOf("inventory")}`) },
  { table: "imports", unless: "bin", rules: countRules() },
  { table: "bin", rules: [...countRules(`UNION ALL ${recordsOf("bin")}`), ...binRules] },
  { table: "storage_quotas", unless: "photo_files", rules: [publishedBytes()] },
  { table: "photo_files", unless: "bin", rules: [publishedBytes(bytesIn("photo_files"))] },
  { table: "bin", rules: [publishedBytes(bytesIn("photo_files") + bytesIn("bin_photo_files"))] },
  { table: "event_storage", rules: eventRules },
  { table: "contacts", rules: contactRules },
  { table: "facts", rules: factRules },
  { table: "orders", since: 64, rules: priceRules },
  { table: "reservations", rules: reservationRules },
  { table: "domains", rules: referenceRules },
];

/** The table and column that each sequence numbers. */
export const numbered: Record<string, string> = {
  account_ids: "accounts",
  key_ids: "keys",
  category_ids: "categories",
  pet_ids: "pets",
  order_ids: "orders",
  member_ids: "members",
  session_ids: "sessions",
  project_ids: "projects",
  deployment_ids: "deployments",
  domain_ids: "domains",
  certificate_ids: "certificates",
  acme_usage_ids: "acme_usage",
  photo_ids: "photos",
  event_outbox_ids: "event_outbox",
  webhook_ids: "webhooks",
  webhook_delivery_ids: "webhook_deliveries",
  import_source_ids: "import_sources",
  import_ids: "imports",
  reservation_ids: "reservations",
  saved_view_ids: "saved_views",
};

/** Where a database that is divided by account has a table of no shop: a copy on each server, or the rows on one server. */
type GlobalTable = { on: "every server" | "one server"; reason: string };

/**
 * The tables of no shop. Every other table is a shop's: its primary key, unique and foreign keys begin with `account_id`, and each statement that
 * reads it names the account (`accounts` is the shop itself, by `id`). `docs/scaling.md` has its tables from these lists.
 */
export const globalTables: Record<string, GlobalTable> = {
  acme_accounts: { on: "every server", reason: "the service's accounts at certificate authorities" },
  migrations: { on: "every server", reason: "the migrations that the schema has had" },
  secrets: { on: "every server", reason: "the secrets that all nodes share" },
  own_certificates: { on: "every server", reason: "the certificate of `PUBLIC_URL`, for nodes of 1.2.0" },
  own_challenges: { on: "every server", reason: "the challenges for the certificate of `PUBLIC_URL`" },
  service_domains: { on: "every server", reason: "the host of `PUBLIC_URL`, of account 0" },
  service_certificates: { on: "every server", reason: "its certificate" },
  service_certificate_orders: { on: "every server", reason: "the order of its certificate" },
  acme_usage: { on: "one server", reason: "what all shops have used of an authority's limits" },
  answered_challenges: { on: "one server", reason: "answered challenges of passkeys, before the member is known" },
  blob_pieces: { on: "one server", reason: "the bytes of `blobs`" },
  blobs: { on: "one server", reason: "published files by their hash, which shops share; an S3 store would hold them better" },
  certificate_holds: { on: "one server", reason: "host names for which no certificate is requested until a time" },
  accepted_states: { on: "one server", reason: "when an operator accepted the state of the database" },
  changes: { on: "one server", reason: "what all nodes must forget, numbered" },
  database_losses: { on: "one server", reason: "what nodes found that the database has lost" },
  event_numbering: { on: "one server", reason: "the lease of the node that numbers events" },
  folded_names: { on: "one server", reason: "the progress of a sweep over all shops" },
  freed_slugs: { on: "one server", reason: "slugs that no other shop may take yet" },
  node_beats: { on: "one server", reason: "the heartbeats of the nodes, counted" },
  nodes: { on: "one server", reason: "the leases of the nodes" },
  older_nodes: { on: "one server", reason: "when a node of 1.1.0 was last seen" },
  unused_files: { on: "one server", reason: "hashes of files that no shop may need any more" },
};

/** Keys of shops' tables that do not begin with `account_id`: what each is for, and what a divided database needs in its place. */
export const otherKeys: Record<string, string> = {
  "keys (hash)": "finds the shop of a request",
  "keys (id)": "finds the shop of a key that an operator names",
  "sessions (hash)": "finds the shop of a cookie",
  "sign_in_links (hash)": "finds the shop of a sign-in link",
  "pending_sign_ins (hash)": "finds the shop of a sign-in between its two steps",
  "passkeys (credential_id)": "finds the shop of a passkey",
  "domain_links (token_hash)": "finds the shop of a link about a domain",
  "projects (slug)": "keeps two shops from one slug",
  "domains (hostname)": "keeps two shops from one name, and finds its shop",
  "certificates (id)": "finds a certificate at a TLS handshake",
  "event_outbox (id)": "orders the events of all shops until they have their positions: each server would number its own",
};

/** Statements of no single shop, by parts of their texts with `$` in place of each value, and where they run in a divided database. */
export const acrossAccounts: { what: string; where: string; parts: string[] }[] = [
  {
    what: "find the shop of a key, cookie, link, email, passkey, slug or host name",
    where: "a directory of these values on one server; the nodes cache what it answers, as they cache keys and hosts today",
    parts: [
      "FROM keys JOIN accounts ON accounts.id = keys.account_id WHERE hash = $",
      "FROM keys WHERE id = $",
      "JOIN members ON members.account_id = sessions.account_id AND members.id = member_id WHERE hash IN (",
      "DELETE FROM sign_in_links WHERE hash = $",
      "FROM pending_sign_ins WHERE hash = $",
      "FROM passkeys WHERE credential_id = $",
      "FROM members WHERE email_key = $ AND password IS NOT NULL",
      "l.hostname WHERE l.token_hash = $ AND l.expires_at > $",
      "FROM domains WHERE hostname = $",
      "FROM verifications WHERE registrable_domain = $ GROUP BY account_id",
      "FROM certificates WHERE id = $",
      "FROM projects p LEFT JOIN deployments d",
      "FROM domains d JOIN accounts a ON a.id = d.account_id WHERE d.status IN ('verified', 'failing')",
      "key_authorization, certificate, certificate_key FROM challenges",
    ],
  },
  {
    what: "claim work that is due: uploads, checks, certificates, imports, reservations, webhooks",
    where: "on each server, for its shops",
    parts: [
      "UPDATE deployments SET lease_until = $, lease_life = $, attempts = attempts + 1 WHERE",
      "COALESCE(MAX(number), 0) + 1 FROM deployment_turns",
      "check_lease_until = $, check_lease_life = $",
      "certificate_lease_until = $, certificate_lease_life = $",
      "FROM domain_troubles WHERE due_at <= $",
      "UPDATE imports SET lease_until = $, lease_id = $ WHERE",
      "UPDATE import_photos SET lease_until = $, lease_id = $ WHERE",
      "EXISTS (SELECT 1 FROM import_photos WHERE due_at <= $)",
      "FROM reservations WHERE lapses_at <= $",
      "SELECT 1 FROM events WHERE events.account_id = webhooks.account_id AND events.position > webhooks.position",
      "SELECT DISTINCT account_id FROM webhooks WHERE",
      "FROM webhooks WHERE account_id IN (",
    ],
  },
  {
    what: "number events",
    where: "on each server, for its shops, by a node with a lease of that server",
    parts: ["FROM event_outbox ORDER BY id", "DELETE FROM event_outbox WHERE id IN ("],
  },
  {
    what: "delete old rows, and go through all shops",
    where: "on each server, for its shops",
    parts: [
      "FROM idempotency WHERE created_at <= $",
      "FROM usage WHERE step = $ AND start < $",
      "FROM request_log WHERE position < $",
      "FROM bin WHERE deleted_at <= $",
      "FROM page_views WHERE day < $",
      "FROM sessions WHERE seen_at <= $ OR created_at <= $",
      "FROM sign_in_links WHERE expires_at <= $",
      "FROM pending_sign_ins WHERE expires_at <= $",
      "created_at < $ AND status <> 'pending'",
      "FROM challenges WHERE expires_at <= $",
      "UPDATE webhooks SET previous_secret = NULL, previous_until = NULL WHERE previous_until <= $",
      "FROM lost_domains WHERE lost_at <= $",
      "LEFT JOIN event_starts ON event_starts.account_id = accounts.id WHERE accounts.id > $",
      "FROM event_storage WHERE account_id > $",
      "WHERE (account_id, id) > ($, $) AND octet_length(name) <> length(name)",
      "WHERE (account_id, pet_id) > ($, $) AND octet_length(value) <> length(value)",
      "UPDATE certificates SET directory_url = $ WHERE id IN",
      "SELECT MAX(id) FROM certificates c WHERE c.directory_url = a.directory_url",
      "FROM domains d JOIN certificates c ON c.id = d.certificate_id WHERE c.directory_url <> $",
    ],
  },
  {
    what: "find the files that no shop needs",
    where: "with `blobs`, from a count of uses of each file that the servers report",
    parts: [
      "EXISTS (SELECT 1 FROM files WHERE files.hash = unused_files.hash)",
      "FROM photo_files WHERE hash = $ AND type = $",
      "FROM bin_photo_files WHERE hash = $ AND type = $",
      "FROM deployments WHERE upload = $",
      "SELECT 1 FROM deployments WHERE 'upload/' || upload = name",
    ],
  },
  {
    what: "count and list for operators: metrics, `doctor`, `accounts list`, `secrets`, `verify`",
    where: "on each server; the results are added",
    parts: [
      "SELECT 1 FROM accounts LIMIT 1",
      "SELECT 1 FROM members WHERE signed_in_at IS NOT NULL",
      "FROM accounts WHERE id > $ ORDER BY id",
      "SELECT MAX(created_at) AS at FROM idempotency UNION ALL",
      "SELECT COUNT(*) AS count FROM passkeys WHERE rp_id <> $",
      "MIN(account_id) AS account_id, MIN(name) AS name FROM categories WHERE name_key LIKE $",
      "FROM (SELECT 1 FROM deployments WHERE status = 'queued'",
      "FROM domains GROUP BY certificate_status",
      "FROM webhooks WHERE NOT enabled AND disabled_because IS NOT NULL",
      "FROM webhooks WHERE enabled) AS endpoints",
      "AND webhooks.id = webhook_id WHERE status = 'pending'",
      "AS kept FROM former LEFT JOIN acme_accounts was",
      "substr(",
    ],
  },
];

/** The parts of `docs/scaling.md` that these lists make, by the names of their placeholders. @param tables those of the schema */
export function shardingTexts(tables: readonly string[]): Record<string, string> {
  const of = (on: GlobalTable["on"]) => Object.entries(globalTables).filter(([, table]) => table.on === on);
  const names = (list: readonly string[]) => list.map((name) => `\`${name}\``).join(", ");
  const rows = (heading: [string, string], lines: readonly (readonly [string, string])[]) =>
    [`| ${heading.join(" | ")} |`, "|---|---|", ...lines.map(([left, right]) => `| ${left} | ${right} |`)].join("\n");
  const globals = (on: GlobalTable["on"]) => of(on).map(([name, { reason }]) => [`\`${name}\``, reason] as const);
  return {
    "distributed tables": names(tables.filter((table) => !globalTables[table])),
    "copied tables": rows(["copied to every server", "what it has"], globals("every server")),
    "single tables": rows(["on one server", "what it has"], globals("one server")),
    "other keys": rows(
      ["unique key", "what for"],
      Object.entries(otherKeys).map(([key, reason]) => [`\`${key}\``, reason]),
    ),
    "statements of no shop": rows(
      ["statements that", "in a divided database"],
      acrossAccounts.map(({ what, where }) => [what, where]),
    ),
  };
}

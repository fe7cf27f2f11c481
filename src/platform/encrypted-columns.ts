/** A column of encrypted secrets. Each is encrypted for the `owner` of its row. */
export type EncryptedColumn = { table: string; column: string; key: string[]; owner: string };

/** Every column that holds encrypted secrets. */
export const encryptedColumns: readonly EncryptedColumn[] = [
  { table: "secrets", column: "envelope", key: ["name"], owner: "name" },
  { table: "acme_accounts", column: "key", key: ["directory_url"], owner: "directory_url" },
  { table: "certificates", column: "key", key: ["account_id", "hostname"], owner: "hostname" },
  { table: "certificate_orders", column: "key", key: ["account_id", "hostname"], owner: "hostname" },
  { table: "challenges", column: "certificate_key", key: ["account_id", "hostname", "type"], owner: "hostname" },
  { table: "authenticator_apps", column: "secret", key: ["account_id", "member_id"], owner: "member_id" },
  { table: "service_certificates", column: "key", key: ["account_id", "hostname"], owner: "hostname" },
  { table: "service_certificate_orders", column: "key", key: ["account_id", "hostname"], owner: "hostname" },
  // Until 1.3.0, for nodes of 1.2.0.
  { table: "own_certificates", column: "key", key: ["hostname"], owner: "hostname" },
  { table: "own_certificates", column: "order_key", key: ["hostname"], owner: "hostname" },
  { table: "webhooks", column: "secret", key: ["account_id", "id"], owner: "owner" },
  { table: "webhooks", column: "previous_secret", key: ["account_id", "id"], owner: "owner" },
  { table: "own_challenges", column: "certificate_key", key: ["hostname", "type"], owner: "hostname" },
];

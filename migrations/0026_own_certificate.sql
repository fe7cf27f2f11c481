-- The certificate of the host of PUBLIC_URL, and the work on it. `key` and `order_key` are encrypted for the host name.
-- `number` counts the certificates of the host; `lease_until` holds the row for one worker.
CREATE TABLE own_certificates (
  hostname TEXT PRIMARY KEY,
  number BIGINT NOT NULL,
  chain TEXT,
  key TEXT,
  not_before BIGINT,
  not_after BIGINT,
  renewal_id TEXT,
  first_issued_at BIGINT,
  order_directory_url TEXT,
  order_url TEXT,
  order_key TEXT,
  failures INTEGER NOT NULL,
  problem TEXT,
  due_at BIGINT NOT NULL,
  lease_until BIGINT,
  lease_id TEXT
);

-- What every node answers the authority with for that host. `certificate_key` is encrypted.
CREATE TABLE own_challenges (
  hostname TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('http-01', 'tls-alpn-01')),
  token TEXT NOT NULL,
  key_authorization TEXT NOT NULL,
  certificate TEXT,
  certificate_key TEXT,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (hostname, type)
);

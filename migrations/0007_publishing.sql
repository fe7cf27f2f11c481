-- Times are milliseconds since the Unix epoch. `version` counts the changes of a row that an answer shows.
-- A `…lease_until` holds a row for one worker; one that has passed is free again, so a process that died holds nothing.

CREATE TABLE projects (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  id BIGINT NOT NULL,
  name TEXT NOT NULL,
  slug TEXT NOT NULL UNIQUE,
  deployment_id BIGINT,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
);

-- `upload` names the packed archive that waits to be unpacked; `manifest` lists what is served.
CREATE TABLE deployments (
  account_id BIGINT NOT NULL,
  id BIGINT NOT NULL,
  project_id BIGINT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('queued', 'ready', 'failed')),
  error TEXT,
  files BIGINT NOT NULL,
  bytes BIGINT NOT NULL,
  upload TEXT,
  manifest TEXT,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  lease_until BIGINT,
  PRIMARY KEY (account_id, id),
  FOREIGN KEY (account_id, project_id) REFERENCES projects (account_id, id) ON DELETE CASCADE
);
CREATE INDEX deployments_by_project ON deployments (account_id, project_id, id);
CREATE INDEX deployments_waiting ON deployments (status, id);
CREATE INDEX deployments_by_upload ON deployments (upload);

-- Which content a deployment needs: what none needs any more is taken from the disk by way of `unused_files`.
CREATE TABLE files (
  account_id BIGINT NOT NULL,
  deployment_id BIGINT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (account_id, deployment_id, hash),
  FOREIGN KEY (account_id, deployment_id) REFERENCES deployments (account_id, id) ON DELETE CASCADE
);
CREATE INDEX files_by_hash ON files (hash);
CREATE TABLE unused_files (hash TEXT PRIMARY KEY);

-- `certificate_…` is what the certificates wing found out; `certificate_wanted_since` is when one was last asked for.
CREATE TABLE domains (
  account_id BIGINT NOT NULL,
  id BIGINT NOT NULL,
  project_id BIGINT NOT NULL,
  hostname TEXT NOT NULL UNIQUE,
  registrable_domain TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('subdomain', 'apex')),
  status TEXT NOT NULL CHECK (status IN ('pending', 'verified', 'failing')),
  is_primary BOOLEAN NOT NULL,
  redirect_to TEXT,
  redirect_status INTEGER CHECK (redirect_status IN (301, 302, 307, 308)),
  problems TEXT NOT NULL,
  caa TEXT NOT NULL CHECK (caa IN ('allowed', 'blocked', 'unknown')),
  proof_needed BOOLEAN NOT NULL,
  next_check_at BIGINT,
  check_lease_until BIGINT,
  certificate_id BIGINT,
  certificate_status TEXT NOT NULL CHECK (certificate_status IN ('none', 'issuing', 'issued', 'failing')),
  certificate_issued_at BIGINT,
  certificate_expires_at BIGINT,
  certificate_problem TEXT,
  certificate_retry_at BIGINT,
  certificate_wanted_since BIGINT,
  certificate_due_at BIGINT,
  certificate_lease_until BIGINT,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  verified_at BIGINT,
  PRIMARY KEY (account_id, hostname),
  FOREIGN KEY (account_id, project_id) REFERENCES projects (account_id, id) ON DELETE CASCADE
);
CREATE INDEX domains_by_project ON domains (account_id, project_id, id);
CREATE INDEX domains_to_check ON domains (next_check_at);
CREATE INDEX domains_to_certify ON domains (certificate_due_at);

-- Who ever verified which name. It outlives domains and accounts: a record left behind is nobody's prey.
CREATE TABLE verifications (
  account_id BIGINT NOT NULL,
  hostname TEXT NOT NULL,
  registrable_domain TEXT NOT NULL,
  verified_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, hostname)
);
CREATE INDEX verifications_by_registrable_domain ON verifications (registrable_domain);

-- `key` is encrypted. `renewal_id` is the identifier of RFC 9773.
CREATE TABLE certificates (
  account_id BIGINT NOT NULL,
  id BIGINT NOT NULL UNIQUE,
  hostname TEXT NOT NULL,
  chain TEXT NOT NULL,
  key TEXT NOT NULL,
  not_before BIGINT NOT NULL,
  not_after BIGINT NOT NULL,
  renewal_id TEXT,
  renew_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, hostname),
  FOREIGN KEY (account_id, hostname) REFERENCES domains (account_id, hostname) ON DELETE CASCADE
);

-- The order that is under way for a name. Its key is kept before it is made, its address as soon as it is known.
CREATE TABLE certificate_orders (
  account_id BIGINT NOT NULL,
  hostname TEXT NOT NULL,
  directory_url TEXT NOT NULL,
  url TEXT,
  key TEXT,
  failures INTEGER NOT NULL,
  PRIMARY KEY (account_id, hostname),
  FOREIGN KEY (account_id, hostname) REFERENCES domains (account_id, hostname) ON DELETE CASCADE
);

-- What every node answers the authority with. `certificate_key` is encrypted.
CREATE TABLE challenges (
  account_id BIGINT NOT NULL,
  hostname TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('http-01', 'tls-alpn-01')),
  token TEXT NOT NULL,
  key_authorization TEXT NOT NULL,
  certificate TEXT,
  certificate_key TEXT,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, hostname, type),
  FOREIGN KEY (account_id, hostname) REFERENCES domains (account_id, hostname) ON DELETE CASCADE
);
CREATE INDEX challenges_by_hostname ON challenges (hostname);
CREATE INDEX challenges_by_age ON challenges (expires_at);

CREATE TABLE acme_accounts (directory_url TEXT PRIMARY KEY, key TEXT NOT NULL, url TEXT);

-- When the authority's limits were used: `subject` is a name, a registrable domain, or the directory for the account's own.
CREATE TABLE spends (
  id BIGINT PRIMARY KEY,
  limit_name TEXT NOT NULL CHECK (limit_name IN ('failures', 'duplicates', 'domain', 'orders')),
  subject TEXT NOT NULL,
  at BIGINT NOT NULL
);
CREATE INDEX spends_by_subject ON spends (limit_name, subject, at);
CREATE INDEX spends_by_age ON spends (at);

-- What all nodes share: the secrets of ownership proofs and of session tickets, encrypted.
CREATE TABLE secrets (name TEXT PRIMARY KEY, envelope TEXT NOT NULL);

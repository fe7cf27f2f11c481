-- The host of PUBLIC_URL is a name like a customer's: it has the columns of `domains`, and its certificate and order are stored like theirs. Its tables
-- are its own, because those of customers' names refer to an account. Its account is 0, which no customer has, and its challenges stay in
-- `own_challenges`, which nodes of 1.2.0 answer from too.
CREATE TABLE service_domains (
  account_id BIGINT NOT NULL,
  id BIGINT NOT NULL,
  project_id BIGINT NOT NULL,
  hostname TEXT NOT NULL UNIQUE,
  registrable_domain TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('subdomain', 'apex')),
  status TEXT NOT NULL,
  is_primary BOOLEAN NOT NULL DEFAULT FALSE,
  redirect_to TEXT,
  redirect_status INTEGER,
  problems TEXT NOT NULL,
  caa TEXT NOT NULL CHECK (caa IN ('allowed', 'blocked', 'unknown')),
  proof_needed BOOLEAN NOT NULL DEFAULT FALSE,
  next_check_at BIGINT,
  certificate_id BIGINT,
  certificate_status TEXT NOT NULL CHECK (certificate_status IN ('issuing', 'issued', 'failing')),
  certificate_issued_at BIGINT,
  certificate_expires_at BIGINT,
  certificate_problem TEXT,
  certificate_retry_at BIGINT,
  certificate_wanted_since BIGINT,
  certificate_due_at BIGINT,
  certificate_lease_until BIGINT,
  certificate_lease_life TEXT,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  verified_at BIGINT,
  first_verified_at BIGINT,
  PRIMARY KEY (account_id, hostname)
);

-- `key` is encrypted for the host name.
CREATE TABLE service_certificates (
  account_id BIGINT NOT NULL,
  id BIGINT NOT NULL UNIQUE,
  hostname TEXT NOT NULL,
  chain TEXT NOT NULL,
  key TEXT NOT NULL,
  not_before BIGINT NOT NULL,
  not_after BIGINT NOT NULL,
  renewal_id TEXT,
  renew_at BIGINT NOT NULL,
  directory_url TEXT,
  replace_asked BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (account_id, hostname),
  FOREIGN KEY (account_id, hostname) REFERENCES service_domains (account_id, hostname) ON DELETE CASCADE
);

CREATE TABLE service_certificate_orders (
  account_id BIGINT NOT NULL,
  hostname TEXT NOT NULL,
  directory_url TEXT NOT NULL,
  url TEXT,
  key TEXT,
  failures INTEGER NOT NULL,
  PRIMARY KEY (account_id, hostname),
  FOREIGN KEY (account_id, hostname) REFERENCES service_domains (account_id, hostname) ON DELETE CASCADE
);

ALTER TABLE own_challenges ADD COLUMN account_id BIGINT NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX own_challenges_by_account ON own_challenges (account_id, hostname, type);

-- A moved certificate gets an id below zero, which no sequence gives out. The first start writes the registrable domain.
INSERT INTO service_domains (account_id, id, project_id, hostname, registrable_domain, kind, status, problems, caa, certificate_id, certificate_status,
  certificate_issued_at, certificate_expires_at, certificate_problem, certificate_due_at, certificate_lease_until, certificate_lease_life, version,
  created_at, first_verified_at)
SELECT 0, -(SELECT COUNT(*) FROM own_certificates upto WHERE upto.hostname <= own_certificates.hostname), 0, hostname, hostname, 'apex', 'verified', '[]',
  'unknown', CASE WHEN chain IS NULL THEN NULL ELSE -(SELECT COUNT(*) FROM own_certificates upto WHERE upto.hostname <= own_certificates.hostname) END,
  CASE WHEN chain IS NOT NULL THEN 'issued' WHEN problem IS NULL THEN 'issuing' ELSE 'failing' END,
  not_before, not_after, problem, due_at, lease_until, lease_id, 1, due_at, first_issued_at
FROM own_certificates;

INSERT INTO service_certificates (account_id, id, hostname, chain, key, not_before, not_after, renewal_id, renew_at, directory_url, replace_asked)
SELECT 0, certificate_id, own.hostname, chain, key, not_before, not_after, renewal_id, due_at, directory_url, replace_asked
FROM own_certificates own JOIN service_domains ON service_domains.hostname = own.hostname WHERE certificate_id IS NOT NULL;

INSERT INTO service_certificate_orders (account_id, hostname, directory_url, url, key, failures)
SELECT 0, hostname, COALESCE(order_directory_url, ''), order_url, order_key, failures FROM own_certificates;

-- Nodes of 1.2.0 that still run serve the certificate of `own_certificates`, into which each new one is written too, until 1.3.0. They order none
-- themselves: it is due for them at no time. An order that one of them is in the middle of ends there, and another is made here, within the budget.
UPDATE own_certificates SET due_at = 9007199254740991;

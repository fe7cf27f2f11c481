-- Names that another account took over with a TXT proof, as the accounts that held them see them.
CREATE TABLE lost_domains (
  account_id BIGINT NOT NULL,
  id BIGINT NOT NULL,
  project_id BIGINT NOT NULL,
  hostname TEXT NOT NULL,
  registrable_domain TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('subdomain', 'apex')),
  problems TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  verified_at BIGINT,
  lost_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, hostname),
  FOREIGN KEY (account_id, project_id) REFERENCES projects (account_id, id) ON DELETE CASCADE
);
CREATE INDEX lost_domains_by_project ON lost_domains (account_id, project_id, id);
CREATE INDEX lost_domains_by_age ON lost_domains (lost_at);
-- When the DNS of a name was last looked at because another account asked for the name.
ALTER TABLE domains ADD COLUMN contested_at BIGINT;

-- The link with which an owner shows the DNS records of a name to the person who can set them. The token itself is not stored.
CREATE TABLE domain_links (
  account_id BIGINT NOT NULL,
  hostname TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, hostname),
  FOREIGN KEY (account_id, hostname) REFERENCES domains (account_id, hostname) ON DELETE CASCADE
);

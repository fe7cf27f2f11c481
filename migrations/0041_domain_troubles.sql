-- The troubles of a domain that its log has told of, with spaces between, and when to look for others. A table of its own: nodes of an earlier
-- release have prepared queries for each column of `domains`.
CREATE TABLE domain_troubles (
  account_id BIGINT NOT NULL,
  hostname TEXT NOT NULL,
  troubles TEXT NOT NULL,
  due_at BIGINT,
  PRIMARY KEY (account_id, hostname),
  FOREIGN KEY (account_id, hostname) REFERENCES domains (account_id, hostname) ON DELETE CASCADE
);
CREATE INDEX domain_troubles_by_due ON domain_troubles (due_at);
INSERT INTO domain_troubles (account_id, hostname, troubles, due_at) SELECT account_id, hostname, '', 0 FROM domains WHERE status <> 'pending';

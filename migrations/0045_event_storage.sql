-- How many bytes each account's events take, and may take. An event counts with the bytes of its text and 256 for its other columns and its
-- entries in two indexes. `log_bytes` is the log from `event_starts` on, `audit_bytes` the events of the audit before it. The limit is `bytes_max`,
-- or `kept_bytes` if that is more: what the account held when the limit was lowered, less what has grown too old since.
CREATE TABLE event_storage (
  account_id BIGINT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  log_bytes BIGINT NOT NULL DEFAULT 0,
  audit_bytes BIGINT NOT NULL DEFAULT 0,
  bytes_max BIGINT NOT NULL DEFAULT 268435456,
  kept_bytes BIGINT NOT NULL DEFAULT 0
);

-- The same for the events of the audit before the log, by UTC day (since 1970) and type, with the newest of each.
CREATE TABLE audit_storage (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  day BIGINT NOT NULL,
  type TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  last_position BIGINT NOT NULL,
  PRIMARY KEY (account_id, day, type)
);

INSERT INTO audit_storage (account_id, day, type, bytes, last_position)
SELECT events.account_id, at / 86400000, type, SUM(octet_length(text) + 256), MAX(events.position)
FROM event_starts JOIN events ON events.account_id = event_starts.account_id AND events.position < event_starts.position
GROUP BY events.account_id, at / 86400000, type;

-- An account that already holds more than its plan allows keeps that size.
INSERT INTO event_storage (account_id, log_bytes, audit_bytes, bytes_max, kept_bytes)
SELECT accounts.id, COALESCE(held.bytes, 0) - COALESCE(audit.bytes, 0), COALESCE(audit.bytes, 0),
  CASE plan WHEN 'free' THEN 268435456 WHEN 'pro' THEN 1073741824 ELSE 5368709120 END, COALESCE(held.bytes, 0)
FROM accounts
LEFT JOIN (SELECT account_id, SUM(octet_length(text) + 256) AS bytes FROM events GROUP BY account_id) AS held ON held.account_id = accounts.id
LEFT JOIN (SELECT account_id, SUM(bytes) AS bytes FROM audit_storage GROUP BY account_id) AS audit ON audit.account_id = accounts.id;

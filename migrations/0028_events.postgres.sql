-- The log of each account's events. `text` is an event in the form of RFC 8785 without its hash; `hash` is SHA-256 of the previous hash, LF and
-- this text. `resource` is `pet/5`, `actor` is `key/3` or `system`; `version` is that of the resource's row after the change.
CREATE TABLE events (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  position BIGINT NOT NULL,
  type TEXT NOT NULL,
  at BIGINT NOT NULL,
  resource TEXT NOT NULL,
  actor TEXT NOT NULL,
  request_id TEXT,
  version BIGINT,
  text TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (account_id, position)
);
CREATE INDEX events_by_type ON events (account_id, type, position);

-- Where the log begins from which every event is kept, once older ones were deleted: the hash is that of the event before.
CREATE TABLE event_starts (
  account_id BIGINT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  position BIGINT NOT NULL,
  previous_hash TEXT NOT NULL
);

-- Events that wait for their position, on PostgreSQL. The position comes between `head` and `tail`.
CREATE TABLE event_outbox (
  id BIGINT PRIMARY KEY,
  account_id BIGINT NOT NULL,
  type TEXT NOT NULL,
  at BIGINT NOT NULL,
  resource TEXT NOT NULL,
  actor TEXT NOT NULL,
  request_id TEXT,
  version BIGINT,
  head TEXT NOT NULL,
  tail TEXT NOT NULL
);

CREATE SEQUENCE event_outbox_ids;

-- The node that gives positions, on PostgreSQL: one row. `lease_until` is in ms of the database's clock.
CREATE TABLE event_numbering (
  id BIGINT PRIMARY KEY,
  lease_id TEXT NOT NULL,
  lease_until BIGINT NOT NULL
);
INSERT INTO event_numbering (id, lease_id, lease_until) VALUES (1, '', 0);

-- When a node of release 1.1.0, which records no events, was last seen beside newer ones: one row, or none.
CREATE TABLE older_nodes (
  id BIGINT PRIMARY KEY,
  seen_at BIGINT NOT NULL
);
INSERT INTO older_nodes (id, seen_at)
SELECT 1, MAX(lease_until) FROM nodes
WHERE lease_until > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) HAVING COUNT(*) > 0;
ALTER TABLE nodes ADD COLUMN records_events BOOLEAN;

-- The number of free units at which `inventory.low` is recorded.
ALTER TABLE accounts ADD COLUMN low_stock BIGINT NOT NULL DEFAULT 3 CHECK (low_stock >= 0);

-- A key with every scope keeps every scope.
UPDATE keys SET scopes =
  'catalogue:read catalogue:write orders:read orders:write inventory:read inventory:write publishing:read publishing:write events:read account:read'
WHERE scopes = 'catalogue:read catalogue:write orders:read orders:write inventory:read inventory:write publishing:read publishing:write account:read';

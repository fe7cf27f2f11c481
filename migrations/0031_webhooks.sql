-- Endpoints that an account's events are sent to. `secret` and `previous_secret` are encrypted for `owner`. Every event up to `position` was
-- delivered, has a row in `webhook_deliveries`, or is of no type of the endpoint; `replays` counts how often `position` was set from outside.
-- `due_at` is when the first delivery is due; `takes_new` is false while a delivery keeps newer events waiting. A lease holds the row for one node.
CREATE TABLE webhooks (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  id BIGINT NOT NULL,
  url TEXT NOT NULL,
  types TEXT NOT NULL,
  description TEXT NOT NULL,
  ordered BOOLEAN NOT NULL,
  owner TEXT NOT NULL,
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_until BIGINT,
  enabled BOOLEAN NOT NULL,
  disabled_at BIGINT,
  disabled_because TEXT,
  position BIGINT NOT NULL,
  replays BIGINT NOT NULL,
  delivered_position BIGINT,
  delivered_at BIGINT,
  failures BIGINT NOT NULL,
  failing_since BIGINT,
  paused_until BIGINT,
  due_at BIGINT,
  takes_new BOOLEAN NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  lease_until BIGINT,
  lease_id TEXT,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX webhooks_due ON webhooks (due_at);

-- What was sent, by message: one row for each endpoint and message, with its last attempt. An event's body is in the log; `body` has those of
-- messages that are not.
CREATE TABLE webhook_deliveries (
  account_id BIGINT NOT NULL,
  webhook_id BIGINT NOT NULL,
  id BIGINT NOT NULL,
  message_id TEXT NOT NULL,
  position BIGINT,
  type TEXT NOT NULL,
  request_id TEXT,
  body TEXT,
  status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts BIGINT NOT NULL,
  give_up_at BIGINT NOT NULL,
  next_attempt_at BIGINT,
  attempted_at BIGINT,
  duration_ms BIGINT,
  response_status BIGINT,
  response_body TEXT,
  error TEXT,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, webhook_id, id),
  FOREIGN KEY (account_id, webhook_id) REFERENCES webhooks (account_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX webhook_deliveries_by_message ON webhook_deliveries (account_id, webhook_id, message_id);
CREATE INDEX webhook_deliveries_by_request ON webhook_deliveries (account_id, webhook_id, request_id, id);
CREATE INDEX webhook_deliveries_undelivered_by_request ON webhook_deliveries (account_id, webhook_id, request_id, status, id) WHERE status <> 'delivered';
CREATE INDEX webhook_deliveries_undelivered ON webhook_deliveries (account_id, webhook_id, status, id) WHERE status <> 'delivered';
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (account_id, webhook_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_at);
CREATE INDEX webhooks_by_secrets_key ON webhooks ((substr(secret, 1, 11)));
CREATE INDEX webhooks_by_previous_secrets_key ON webhooks ((substr(previous_secret, 1, 11)));

-- A key with every scope keeps every scope.
UPDATE keys SET scopes =
  'catalogue:read catalogue:write orders:read orders:write inventory:read inventory:write publishing:read publishing:write events:read webhooks:read webhooks:write account:read'
WHERE scopes = 'catalogue:read catalogue:write orders:read orders:write inventory:read inventory:write publishing:read publishing:write events:read account:read';

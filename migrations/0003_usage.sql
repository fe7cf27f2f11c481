-- Requests of an account by interval (`step` and `start` in milliseconds), once by key and once by operation (`kind`):
-- two sums instead of their product. Kept as long as GET /usage shows it.
CREATE TABLE usage (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  step BIGINT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('key', 'operation')),
  start BIGINT NOT NULL,
  name TEXT NOT NULL,
  requests BIGINT NOT NULL,
  refused BIGINT NOT NULL,
  banned BIGINT NOT NULL,
  PRIMARY KEY (account_id, step, kind, start, name)
);
CREATE INDEX usage_by_age ON usage (step, start);

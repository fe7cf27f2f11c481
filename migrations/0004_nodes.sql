-- The processes that serve this database. `lease_until` is in ms of the database's clock; `seen` is the last change acted on.
CREATE TABLE nodes (
  id TEXT PRIMARY KEY,
  lease_until BIGINT NOT NULL,
  seen BIGINT NOT NULL
);

-- What nodes must forget, numbered in the order of their commits.
CREATE TABLE changes (
  number BIGINT PRIMARY KEY,
  kind TEXT NOT NULL,
  subject BIGINT NOT NULL,
  made_at BIGINT NOT NULL
);

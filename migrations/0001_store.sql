-- Times are milliseconds since the Unix epoch. `version` counts a row's changes and is its ETag.
-- `name_key` is the name folded (NFKC, lower case) by the service: it sorts and compares bytewise.

CREATE TABLE accounts (
  id BIGINT PRIMARY KEY,
  name TEXT NOT NULL,
  plan TEXT NOT NULL CHECK (plan IN ('free', 'pro', 'business', 'enterprise')),
  per_minute BIGINT CHECK (per_minute > 0),
  per_day BIGINT CHECK (per_day > 0),
  created_at BIGINT NOT NULL
);

CREATE TABLE keys (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  id BIGINT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  publishable BOOLEAN NOT NULL,
  scopes TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  last_used_at BIGINT,
  PRIMARY KEY (account_id, id)
);

CREATE TABLE categories (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  id BIGINT NOT NULL,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  description TEXT,
  version BIGINT NOT NULL,
  PRIMARY KEY (account_id, id),
  UNIQUE (account_id, name_key)
);

CREATE TABLE pets (
  account_id BIGINT NOT NULL,
  id BIGINT NOT NULL,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  category_id BIGINT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
  version BIGINT NOT NULL,
  PRIMARY KEY (account_id, id),
  FOREIGN KEY (account_id, category_id) REFERENCES categories (account_id, id)
);
-- One index for each filter and order that listPets offers, so that the last page costs what the first does.
CREATE INDEX pets_by_name ON pets (account_id, name_key, id);
CREATE INDEX pets_by_status ON pets (account_id, status, id);
CREATE INDEX pets_by_status_name ON pets (account_id, status, name_key, id);
CREATE INDEX pets_by_category ON pets (account_id, category_id, id);
CREATE INDEX pets_by_category_name ON pets (account_id, category_id, name_key, id);
CREATE INDEX pets_by_category_status ON pets (account_id, category_id, status, id);
CREATE INDEX pets_by_category_status_name ON pets (account_id, category_id, status, name_key, id);

-- `quantity` units are free, `held` ones belong to open orders; together they fit the count that an answer may show.
CREATE TABLE inventory (
  account_id BIGINT NOT NULL,
  pet_id BIGINT NOT NULL,
  quantity BIGINT NOT NULL CHECK (quantity >= 0),
  held BIGINT NOT NULL CHECK (held >= 0),
  status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
  version BIGINT NOT NULL,
  CHECK (quantity + held <= 2147483647),
  PRIMARY KEY (account_id, pet_id),
  FOREIGN KEY (account_id, pet_id) REFERENCES pets (account_id, id) ON DELETE CASCADE
);
CREATE INDEX inventory_by_status ON inventory (account_id, status, pet_id);

-- An order keeps the id of an animal that is gone, so `pet_id` refers to nothing. `held` is what it took from stock.
CREATE TABLE orders (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  id BIGINT NOT NULL,
  pet_id BIGINT,
  quantity BIGINT NOT NULL CHECK (quantity BETWEEN 1 AND 2147483647),
  held BIGINT NOT NULL CHECK (held BETWEEN 0 AND quantity),
  ship_date BIGINT,
  complete BOOLEAN NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX orders_by_pet ON orders (account_id, pet_id, id);
CREATE INDEX orders_by_complete ON orders (account_id, complete, id);
CREATE INDEX orders_by_pet_complete ON orders (account_id, pet_id, complete, id);

-- The answers that POST gave to an Idempotency-Key, kept for 24 hours.
CREATE TABLE idempotency (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  target TEXT NOT NULL,
  key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  status INTEGER NOT NULL,
  headers TEXT NOT NULL,
  body TEXT,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, target, key)
);
CREATE INDEX idempotency_by_age ON idempotency (created_at);

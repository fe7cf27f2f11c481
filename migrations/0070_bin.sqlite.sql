-- The animals that members deleted in the dashboard, for 30 days (specification 2.11): what each had, its photos included, so that it can return. An animal
-- is in `pets` or here, never in both. `stock_version` is null if its stock was not counted, `profile_version` if it had no profile.
CREATE TABLE bin (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  pet_id BIGINT NOT NULL,
  deleted_at BIGINT NOT NULL,
  name TEXT NOT NULL,
  category_id BIGINT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
  version BIGINT NOT NULL,
  quantity BIGINT CHECK (quantity >= 0),
  stock_version BIGINT,
  description TEXT,
  price_amount BIGINT CHECK (price_amount >= 0),
  price_currency TEXT,
  facts TEXT,
  profile_version BIGINT,
  CHECK ((quantity IS NULL) = (stock_version IS NULL)),
  CHECK ((price_amount IS NULL) = (price_currency IS NULL)),
  PRIMARY KEY (account_id, pet_id)
);
CREATE INDEX bin_by_time ON bin (account_id, deleted_at, pet_id);
CREATE INDEX bin_by_age ON bin (deleted_at);

-- The forms of their photos, each a published file as in `photo_files`.
CREATE TABLE bin_photo_files (
  account_id BIGINT NOT NULL,
  pet_id BIGINT NOT NULL,
  photo_id BIGINT NOT NULL,
  place BIGINT NOT NULL,
  alt TEXT NOT NULL,
  type TEXT NOT NULL,
  width BIGINT NOT NULL,
  height BIGINT NOT NULL,
  hash TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  PRIMARY KEY (account_id, pet_id, photo_id, type, width),
  FOREIGN KEY (account_id, pet_id) REFERENCES bin (account_id, pet_id) ON DELETE CASCADE
);
CREATE INDEX bin_photo_files_by_hash ON bin_photo_files (hash);
CREATE TRIGGER bin_photo_files_freed AFTER DELETE ON bin_photo_files BEGIN
  INSERT INTO unused_files (hash) VALUES (OLD.hash) ON CONFLICT (hash) DO NOTHING;
  UPDATE storage_quotas SET used = used - OLD.bytes WHERE account_id = OLD.account_id AND kind = 'published_bytes';
END;

-- Statistics as of a large shop (decision 0112).
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('bin', 'sqlite_autoindex_bin_1', '1000000 100000 1'),
  ('bin', 'bin_by_time', '1000000 100000 2 1'),
  ('bin', 'bin_by_age', '1000000 2'),
  ('bin_photo_files', 'sqlite_autoindex_bin_photo_files_1', '1000000 100000 20 5 2 1'),
  ('bin_photo_files', 'bin_photo_files_by_hash', '1000000 2');
ANALYZE sqlite_schema;

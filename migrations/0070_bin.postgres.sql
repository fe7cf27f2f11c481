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
CREATE TRIGGER bin_photo_files_freed AFTER DELETE ON bin_photo_files FOR EACH ROW EXECUTE FUNCTION free_photo_file();

-- Nodes of 1.2.0 would delete these files as unused, because they do not know this table. So no file that it has is ever marked.
CREATE FUNCTION keep_binned_file() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM bin_photo_files WHERE hash = NEW.hash) THEN RETURN NULL; END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER unused_files_in_bin BEFORE INSERT ON unused_files FOR EACH ROW EXECUTE FUNCTION keep_binned_file();
CREATE FUNCTION forget_unused_mark() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM unused_files WHERE hash = NEW.hash;
  RETURN NULL;
END
$$;
CREATE TRIGGER bin_photo_files_kept AFTER INSERT ON bin_photo_files FOR EACH ROW EXECUTE FUNCTION forget_unused_mark();

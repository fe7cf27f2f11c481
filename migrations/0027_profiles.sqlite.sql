-- The text, price and photos of a pet, beside its exact model. `price_amount` is in the minor units of its currency.
CREATE TABLE profiles (
  account_id BIGINT NOT NULL,
  pet_id BIGINT NOT NULL,
  description TEXT,
  price_amount BIGINT CHECK (price_amount >= 0),
  price_currency TEXT,
  version BIGINT NOT NULL,
  CHECK ((price_amount IS NULL) = (price_currency IS NULL)),
  PRIMARY KEY (account_id, pet_id),
  FOREIGN KEY (account_id, pet_id) REFERENCES pets (account_id, id) ON DELETE CASCADE
);
CREATE TABLE photos (
  account_id BIGINT NOT NULL,
  id BIGINT NOT NULL,
  pet_id BIGINT NOT NULL,
  place BIGINT NOT NULL,
  alt TEXT NOT NULL,
  PRIMARY KEY (account_id, id),
  FOREIGN KEY (account_id, pet_id) REFERENCES profiles (account_id, pet_id) ON DELETE CASCADE
);
CREATE INDEX photos_by_pet ON photos (account_id, pet_id, place, id);

-- The forms of a photo: its sizes and types, each a published file named by its content.
CREATE TABLE photo_files (
  account_id BIGINT NOT NULL,
  photo_id BIGINT NOT NULL,
  type TEXT NOT NULL,
  width BIGINT NOT NULL,
  height BIGINT NOT NULL,
  hash TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  PRIMARY KEY (account_id, photo_id, type, width),
  FOREIGN KEY (account_id, photo_id) REFERENCES photos (account_id, id) ON DELETE CASCADE
);
CREATE INDEX photo_files_by_hash ON photo_files (hash);

-- Photos go with their pet, and pets with their account, by cascades. So the database itself marks the content as unused and
-- counts the bytes: no way of deleting can forget it.
CREATE TRIGGER photo_files_freed AFTER DELETE ON photo_files BEGIN
  INSERT INTO unused_files (hash) VALUES (OLD.hash) ON CONFLICT (hash) DO NOTHING;
  UPDATE storage_quotas SET used = used - OLD.bytes WHERE account_id = OLD.account_id AND kind = 'published_bytes';
END;

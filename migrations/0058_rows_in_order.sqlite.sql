-- Pets, inventory entries and orders are stored in the order of account and id, without row ids: a read then looks in one tree in place of two, and a page
-- of a list reads neighbouring rows (decision 0093). A pet has the JSON that answers show: the engine makes it when the row changes.
-- A table that others refer to cannot be dropped while they have rows, so the tables that refer to pets are copied and made again too.

-- Step: the orders
CREATE TABLE orders_before AS SELECT * FROM orders;
DROP TABLE orders;
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
) WITHOUT ROWID;
INSERT INTO orders (account_id, id, pet_id, quantity, held, ship_date, complete, version)
SELECT account_id, id, pet_id, quantity, held, ship_date, complete, version FROM orders_before ORDER BY account_id, id;
DROP TABLE orders_before;
CREATE INDEX orders_by_complete ON orders (account_id, complete, id);
CREATE INDEX orders_by_pet_complete ON orders (account_id, pet_id, complete, id);

-- Step: copies of what refers to the animals
CREATE TABLE photo_files_before AS SELECT * FROM photo_files;
CREATE TABLE photos_before AS SELECT * FROM photos;
CREATE TABLE profiles_before AS SELECT * FROM profiles;
CREATE TABLE inventory_before AS SELECT * FROM inventory;
DROP TABLE photo_files;
DROP TABLE photos;
DROP TABLE profiles;
DROP TABLE inventory;

-- Step: the animals
CREATE TABLE pets_before AS SELECT * FROM pets;
DROP TABLE pets;
CREATE TABLE pets (
  account_id BIGINT NOT NULL,
  id BIGINT NOT NULL,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  category_id BIGINT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
  version BIGINT NOT NULL,
  is_split BOOLEAN NOT NULL DEFAULT TRUE,
  json TEXT NOT NULL GENERATED ALWAYS AS (json_object('id', id, 'name', name, 'categoryId', category_id, 'status', status)) STORED,
  PRIMARY KEY (account_id, id),
  FOREIGN KEY (account_id, category_id) REFERENCES categories (account_id, id)
) WITHOUT ROWID;
INSERT INTO pets (account_id, id, name, name_key, category_id, status, version, is_split)
SELECT account_id, id, name, name_key, category_id, status, version, is_split FROM pets_before ORDER BY account_id, id;
DROP TABLE pets_before;

-- Step: the indexes of the animals
CREATE INDEX pets_by_name ON pets (account_id, name_key, id);
CREATE INDEX pets_by_status ON pets (account_id, status, id);
CREATE INDEX pets_by_status_name ON pets (account_id, status, name_key, id);
CREATE INDEX pets_by_category ON pets (account_id, category_id, id);
CREATE INDEX pets_by_category_name ON pets (account_id, category_id, name_key, id);
CREATE INDEX pets_by_category_status ON pets (account_id, category_id, status, id);
CREATE INDEX pets_by_category_status_name ON pets (account_id, category_id, status, name_key, id);

CREATE TRIGGER pet_words_moved AFTER UPDATE OF status, category_id ON pets
WHEN (NEW.status <> OLD.status OR NEW.category_id <> OLD.category_id) AND NEW.name_key GLOB '*[^a-z0-9]*' BEGIN
  UPDATE pet_words SET status = NEW.status, category_id = NEW.category_id WHERE account_id = NEW.account_id AND pet_id = NEW.id;
END;
CREATE TRIGGER pet_words_removed AFTER DELETE ON pets WHEN OLD.name_key GLOB '*[^a-z0-9]*' BEGIN
  DELETE FROM pet_words WHERE account_id = OLD.account_id AND pet_id = OLD.id;
END;
CREATE TRIGGER pet_words_added AFTER INSERT ON pets
WHEN NEW.is_split AND NEW.name_key GLOB '*[] /([)"''.,&+*#:;_' || char(9, 10, 11, 12, 13, 133, 5760, 8232, 8233) || '-]*' BEGIN
  INSERT INTO names_to_split VALUES (NEW.account_id, NEW.id, NEW.name_key, NEW.category_id, NEW.status);
END;
CREATE TRIGGER pet_words_waiting AFTER INSERT ON pets WHEN NOT NEW.is_split BEGIN
  INSERT INTO pet_words (account_id, pet_id, word, shared, category_id, status)
  VALUES (NEW.account_id, NEW.id, '', -1, NEW.category_id, NEW.status);
END;
CREATE TRIGGER pet_words_renamed AFTER UPDATE OF name_key ON pets WHEN NEW.is_split AND NEW.name_key <> OLD.name_key BEGIN
  DELETE FROM pet_words WHERE account_id = NEW.account_id AND pet_id = NEW.id;
  INSERT INTO names_to_split VALUES (NEW.account_id, NEW.id, NEW.name_key, NEW.category_id, NEW.status);
END;
CREATE TRIGGER pet_words_split AFTER UPDATE OF is_split ON pets
WHEN NEW.is_split AND NOT OLD.is_split AND NEW.name_key = OLD.name_key BEGIN
  DELETE FROM pet_words WHERE account_id = NEW.account_id AND pet_id = NEW.id;
  INSERT INTO names_to_split VALUES (NEW.account_id, NEW.id, NEW.name_key, NEW.category_id, NEW.status);
END;

-- Step: the inventory, and the texts and photos of animals
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
) WITHOUT ROWID;
INSERT INTO inventory (account_id, pet_id, quantity, held, status, version)
SELECT account_id, pet_id, quantity, held, status, version FROM inventory_before ORDER BY account_id, pet_id;
DROP TABLE inventory_before;
CREATE INDEX inventory_by_status ON inventory (account_id, status, pet_id);

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
INSERT INTO profiles (account_id, pet_id, description, price_amount, price_currency, version) SELECT account_id, pet_id, description, price_amount, price_currency, version FROM profiles_before;
DROP TABLE profiles_before;

CREATE TABLE photos (
  account_id BIGINT NOT NULL,
  id BIGINT NOT NULL,
  pet_id BIGINT NOT NULL,
  place BIGINT NOT NULL,
  alt TEXT NOT NULL,
  PRIMARY KEY (account_id, id),
  FOREIGN KEY (account_id, pet_id) REFERENCES profiles (account_id, pet_id) ON DELETE CASCADE
);
INSERT INTO photos (account_id, id, pet_id, place, alt) SELECT account_id, id, pet_id, place, alt FROM photos_before;
DROP TABLE photos_before;
CREATE INDEX photos_by_pet ON photos (account_id, pet_id, place, id);

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
INSERT INTO photo_files (account_id, photo_id, type, width, height, hash, bytes) SELECT account_id, photo_id, type, width, height, hash, bytes FROM photo_files_before;
DROP TABLE photo_files_before;
CREATE INDEX photo_files_by_hash ON photo_files (hash);

CREATE TRIGGER photo_files_freed AFTER DELETE ON photo_files BEGIN
  INSERT INTO unused_files (hash) VALUES (OLD.hash) ON CONFLICT (hash) DO NOTHING;
  UPDATE storage_quotas SET used = used - OLD.bytes WHERE account_id = OLD.account_id AND kind = 'published_bytes';
END;

-- Where shops import from. `name_key` is the name folded, as for categories.
CREATE TABLE import_sources (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  id BIGINT NOT NULL,
  name TEXT NOT NULL,
  name_key TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, id),
  UNIQUE (account_id, name_key)
);

-- Imports, and who made them. `categories` are the identifiers of the categories that an import made; `stays` lists what its undo left, and why. A lease
-- holds the row for the node that ends or undoes it, from `due_at` on.
CREATE TABLE imports (
  account_id BIGINT NOT NULL,
  id BIGINT NOT NULL,
  source_id BIGINT NOT NULL,
  file_name TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('open', 'finished', 'undoing', 'undone')),
  created BIGINT NOT NULL,
  updated BIGINT NOT NULL,
  unchanged BIGINT NOT NULL,
  rejected BIGINT NOT NULL,
  categories TEXT NOT NULL,
  actor TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  finished_at BIGINT,
  undone_at BIGINT,
  stays BIGINT NOT NULL,
  stays_listed TEXT NOT NULL,
  version BIGINT NOT NULL,
  due_at BIGINT,
  lease_until BIGINT,
  lease_id TEXT,
  PRIMARY KEY (account_id, id),
  FOREIGN KEY (account_id, source_id) REFERENCES import_sources (account_id, id) ON DELETE CASCADE
);
CREATE INDEX imports_by_source ON imports (account_id, source_id, id);
CREATE INDEX imports_due ON imports (due_at) WHERE due_at IS NOT NULL;

-- What each source's rows said last, by the source's own identifier, and the pet that each row is. The pet may be gone.
CREATE TABLE imported_pets (
  account_id BIGINT NOT NULL,
  source_id BIGINT NOT NULL,
  row_id TEXT COLLATE "C" NOT NULL,
  pet_id BIGINT NOT NULL,
  import_id BIGINT NOT NULL,
  row_values TEXT NOT NULL,
  PRIMARY KEY (account_id, source_id, row_id)
);
CREATE UNIQUE INDEX imported_pets_by_pet ON imported_pets (account_id, source_id, pet_id);

-- What an import did to each pet: whether it made the pet, how things were before (null if there was nothing), and the versions that it left.
CREATE TABLE import_changes (
  account_id BIGINT NOT NULL,
  import_id BIGINT NOT NULL,
  pet_id BIGINT NOT NULL,
  row_id TEXT COLLATE "C" NOT NULL,
  is_new BOOLEAN NOT NULL,
  prior TEXT,
  pet_version BIGINT,
  stock_version BIGINT,
  profile_version BIGINT,
  PRIMARY KEY (account_id, import_id, pet_id)
);

-- In place of foreign keys, which would look the account up for each row.
CREATE FUNCTION delete_imports_of_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM imported_pets WHERE account_id = OLD.id;
  DELETE FROM import_changes WHERE account_id = OLD.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER imports_of_account AFTER DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION delete_imports_of_account();

CREATE SEQUENCE import_source_ids;
CREATE SEQUENCE import_ids;
-- Stock entries count as records no more: they are taken off, and the room is shared out anew.
WITH counted (account_id, entries, room) AS (
  SELECT tracked.account_id, entries, room + entries
  FROM (SELECT account_id, COUNT(*) AS entries FROM inventory GROUP BY account_id) AS tracked
  JOIN (SELECT account_id, CAST(SUM(used_max - used) AS BIGINT) AS room FROM storage_quotas WHERE kind = 'records' GROUP BY account_id) AS quotas
    ON quotas.account_id = tracked.account_id
)
UPDATE storage_quotas SET
  used = CASE stripe WHEN 0 THEN used - entries ELSE used END,
  used_max = CASE stripe WHEN 0 THEN used - entries + room / 64 + room % 64 ELSE used + room / 64 END
FROM counted WHERE storage_quotas.account_id = counted.account_id AND kind = 'records';

-- Photos of imported pets that are still to be fetched. Those of a pet are fetched in the order of `place`, each from `due_at` on.
CREATE TABLE import_photos (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  pet_id BIGINT NOT NULL,
  place BIGINT NOT NULL,
  import_id BIGINT NOT NULL,
  url TEXT NOT NULL,
  attempts BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  lease_until BIGINT,
  lease_id TEXT,
  PRIMARY KEY (account_id, pet_id, place)
);
CREATE INDEX import_photos_due ON import_photos (due_at);

-- How many photos of an import could not be fetched, and the first of them with the reasons.
ALTER TABLE imports ADD COLUMN photos_failed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE imports ADD COLUMN photos_listed TEXT NOT NULL DEFAULT '[]';

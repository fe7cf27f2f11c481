-- The slug of a project that was deleted or renamed is its account's alone for a while: browsers still have what was served there.
CREATE TABLE freed_slugs (slug TEXT PRIMARY KEY, account_id BIGINT NOT NULL, freed_at BIGINT NOT NULL);
CREATE INDEX freed_slugs_by_account ON freed_slugs (account_id, freed_at);
CREATE INDEX freed_slugs_by_age ON freed_slugs (freed_at);

-- The name that a key was given; without one it is called by its id.
ALTER TABLE keys ADD COLUMN name TEXT;
-- The web origins that a publishable key is bound to, with spaces between; empty: it is bound to none.
ALTER TABLE keys ADD COLUMN origins TEXT NOT NULL DEFAULT '';

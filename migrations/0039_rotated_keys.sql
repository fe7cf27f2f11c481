-- The key that this one replaced in a rotation, of the same account; null if it replaced none. That one may be gone by now.
ALTER TABLE keys ADD COLUMN replaces BIGINT;

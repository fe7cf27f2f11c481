-- The ids of the keys whose bans count for a key, because they made it by the API; separated by spaces.
ALTER TABLE keys ADD COLUMN makers TEXT NOT NULL DEFAULT '';

-- Identifiers count up by sequences, whose names no table has.
CREATE SEQUENCE account_ids;
CREATE SEQUENCE key_ids;
CREATE SEQUENCE category_ids;
CREATE SEQUENCE pet_ids;
CREATE SEQUENCE order_ids;

-- Names sort and compare bytewise, whatever the collation of the database.
ALTER TABLE categories ALTER COLUMN name_key TYPE TEXT COLLATE "C";
ALTER TABLE pets ALTER COLUMN name_key TYPE TEXT COLLATE "C";

-- A batch of names with very many words leaves the words of some pets to later steps (decision 0098): `is_split` is false, and in place of its
-- words the pet has a row whose `shared` is -1. A node of an earlier release leaves the column out, so the words of its pets are written at once.
ALTER TABLE pets ADD COLUMN is_split BOOLEAN NOT NULL DEFAULT TRUE;

CREATE OR REPLACE FUNCTION add_pet_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.is_split THEN
    PERFORM split_pet_name(NEW);
  ELSE
    INSERT INTO pet_words (account_id, pet_id, word, shared, category_id, status)
    VALUES (NEW.account_id, NEW.id, '', -1, NEW.category_id, NEW.status);
  END IF;
  RETURN NULL;
END
$$;
CREATE OR REPLACE FUNCTION rename_pet_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.is_split THEN
    DELETE FROM pet_words WHERE account_id = NEW.account_id AND pet_id = NEW.id;
    PERFORM split_pet_name(NEW);
  END IF;
  RETURN NULL;
END
$$;
CREATE FUNCTION split_waiting_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM pet_words WHERE account_id = NEW.account_id AND pet_id = NEW.id;
  PERFORM split_pet_name(NEW);
  RETURN NULL;
END
$$;
CREATE TRIGGER pet_words_split AFTER UPDATE ON pets FOR EACH ROW
WHEN (NEW.is_split AND NOT OLD.is_split AND NEW.name_key = OLD.name_key) EXECUTE FUNCTION split_waiting_name();

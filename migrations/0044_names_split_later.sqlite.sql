-- A batch of names with very many words leaves the words of some pets to later steps (decision 0098): `is_split` is false, and in place of its
-- words the pet has a row whose `shared` is -1.
ALTER TABLE pets ADD COLUMN is_split BOOLEAN NOT NULL DEFAULT TRUE;

DROP TRIGGER pet_words_added;
CREATE TRIGGER pet_words_added AFTER INSERT ON pets
WHEN NEW.is_split AND NEW.name_key GLOB '*[] /([)"''.,&+*#:;_' || char(9, 10, 11, 12, 13, 133, 5760, 8232, 8233) || '-]*' BEGIN
  INSERT INTO names_to_split VALUES (NEW.account_id, NEW.id, NEW.name_key, NEW.category_id, NEW.status);
END;
CREATE TRIGGER pet_words_waiting AFTER INSERT ON pets WHEN NOT NEW.is_split BEGIN
  INSERT INTO pet_words (account_id, pet_id, word, shared, category_id, status)
  VALUES (NEW.account_id, NEW.id, '', -1, NEW.category_id, NEW.status);
END;
DROP TRIGGER pet_words_renamed;
CREATE TRIGGER pet_words_renamed AFTER UPDATE OF name_key ON pets WHEN NEW.is_split AND NEW.name_key <> OLD.name_key BEGIN
  DELETE FROM pet_words WHERE account_id = NEW.account_id AND pet_id = NEW.id;
  INSERT INTO names_to_split VALUES (NEW.account_id, NEW.id, NEW.name_key, NEW.category_id, NEW.status);
END;
CREATE TRIGGER pet_words_split AFTER UPDATE OF is_split ON pets
WHEN NEW.is_split AND NOT OLD.is_split AND NEW.name_key = OLD.name_key BEGIN
  DELETE FROM pet_words WHERE account_id = NEW.account_id AND pet_id = NEW.id;
  INSERT INTO names_to_split VALUES (NEW.account_id, NEW.id, NEW.name_key, NEW.category_id, NEW.status);
END;

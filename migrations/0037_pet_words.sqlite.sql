-- The later words of each pet's name: `q` of GET /pets finds names by them (decision 0082). A word is found by all its beginnings that are longer
-- than `shared`; under shorter ones the same pet comes before, by its name or by an earlier word, so each search finds a pet once.
-- A release that knows nothing of this table writes pets too, so the database itself fills it.
CREATE TABLE pet_words (
  account_id BIGINT NOT NULL,
  pet_id BIGINT NOT NULL,
  word TEXT NOT NULL,
  shared BIGINT NOT NULL,
  category_id BIGINT NOT NULL,
  status TEXT NOT NULL,
  PRIMARY KEY (account_id, pet_id, word)
) WITHOUT ROWID;

-- An insert into this view splits a name: into the words between spaces, and into those between spaces or marks. Each text becomes a list by
-- replacing its spaces in the JSON of it; `zeroblob` makes a list as long as a word. A trigger can neither recurse nor name a query.
CREATE VIEW names_to_split AS SELECT account_id, id, name_key, category_id, status FROM pets;
CREATE TRIGGER names_split INSTEAD OF INSERT ON names_to_split BEGIN
  INSERT INTO pet_words (account_id, pet_id, word, shared, category_id, status)
  SELECT NEW.account_id, NEW.id, part.value, 0, NEW.category_id, NEW.status
  FROM json_each(json_array(NEW.name_key,
    replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
      NEW.name_key, '-', ' '), '/', ' '), '(', ' '), ')', ' '), '[', ' '), ']', ' '), '"', ' '), '''', ' '), '.', ' '), ',', ' '), '&', ' '),
      '+', ' '), '*', ' '), '#', ' '), ':', ' '), ';', ' '), '_', ' '))) AS text,
    json_each('[' || replace(json_quote(
      replace(replace(replace(replace(replace(replace(replace(replace(replace(text.value, char(9), ' '), char(10), ' '), char(11), ' '),
        char(12), ' '), char(13), ' '), char(133), ' '), char(5760), ' '), char(8232), ' '), char(8233), ' ')
    ), ' ', '","') || ']') AS part
  WHERE part.value <> '' AND part.key <= 32
  ON CONFLICT DO NOTHING;

  UPDATE pet_words SET shared = (
    SELECT COALESCE(MAX(key + 1), 0) FROM json_each('[0' || replace(hex(zeroblob(length(word) - 1)), '00', ',0') || ']')
    WHERE substr(NEW.name_key, 1, key + 1) = substr(word, 1, key + 1) OR EXISTS (
      SELECT 1 FROM pet_words AS earlier WHERE earlier.account_id = NEW.account_id AND earlier.pet_id = NEW.id
        AND earlier.word >= substr(pet_words.word, 1, key + 1) AND earlier.word < pet_words.word)
  ) WHERE account_id = NEW.account_id AND pet_id = NEW.id AND (substr(word, 1, 1) = substr(NEW.name_key, 1, 1) OR EXISTS (
    SELECT 1 FROM pet_words AS earlier WHERE earlier.account_id = NEW.account_id AND earlier.pet_id = NEW.id
      AND earlier.word >= substr(pet_words.word, 1, 1) AND earlier.word < pet_words.word));
  DELETE FROM pet_words WHERE account_id = NEW.account_id AND pet_id = NEW.id AND shared >= length(word);
END;

CREATE TRIGGER pet_words_added AFTER INSERT ON pets WHEN NEW.name_key GLOB '*[^a-z0-9]*' BEGIN
  INSERT INTO names_to_split VALUES (NEW.account_id, NEW.id, NEW.name_key, NEW.category_id, NEW.status);
END;
CREATE TRIGGER pet_words_renamed AFTER UPDATE OF name_key ON pets WHEN NEW.name_key <> OLD.name_key BEGIN
  DELETE FROM pet_words WHERE account_id = NEW.account_id AND pet_id = NEW.id;
  INSERT INTO names_to_split VALUES (NEW.account_id, NEW.id, NEW.name_key, NEW.category_id, NEW.status);
END;
CREATE TRIGGER pet_words_moved AFTER UPDATE OF status, category_id ON pets
WHEN (NEW.status <> OLD.status OR NEW.category_id <> OLD.category_id) AND NEW.name_key GLOB '*[^a-z0-9]*' BEGIN
  UPDATE pet_words SET status = NEW.status, category_id = NEW.category_id WHERE account_id = NEW.account_id AND pet_id = NEW.id;
END;
-- In place of a foreign key, which would look the pet up for each word.
CREATE TRIGGER pet_words_removed AFTER DELETE ON pets WHEN OLD.name_key GLOB '*[^a-z0-9]*' BEGIN
  DELETE FROM pet_words WHERE account_id = OLD.account_id AND pet_id = OLD.id;
END;

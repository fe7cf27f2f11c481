-- The later words of each pet's name: `q` of GET /pets finds names by them (decision 0082). A word is found by all its beginnings that are longer
-- than `shared`; under shorter ones the same pet comes before, by its name or by an earlier word, so each search finds a pet once.
-- A release that knows nothing of this table writes pets too, so the database itself fills it.
CREATE TABLE pet_words (
  account_id BIGINT NOT NULL,
  pet_id BIGINT NOT NULL,
  word TEXT COLLATE "C" NOT NULL,
  shared BIGINT NOT NULL,
  category_id BIGINT NOT NULL,
  status TEXT NOT NULL,
  PRIMARY KEY (account_id, pet_id, word)
);

-- Splits a name: into the words between spaces, and into those between spaces or marks.
CREATE FUNCTION split_pet_name(pet pets) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  spaced TEXT := translate(pet.name_key, E'\t\n\u000B\f\r\u0085\u1680\u2028\u2029', '         ');
  parted TEXT := translate(spaced, '-/()[]"''.,&+*#:;_', '                 ');
  word TEXT COLLATE "C";
  earlier TEXT := '';
  size INTEGER;
BEGIN
  FOR word IN SELECT DISTINCT part COLLATE "C" AS part
    FROM unnest((string_to_array(spaced, ' '))[1:33] || (string_to_array(parted, ' '))[1:33]) AS part WHERE part <> '' ORDER BY part
  LOOP
    size := 0;
    WHILE size < length(word) AND (starts_with(pet.name_key, left(word, size + 1)) OR starts_with(earlier, left(word, size + 1))) LOOP
      size := size + 1;
    END LOOP;
    IF size < length(word) THEN
      INSERT INTO pet_words (account_id, pet_id, word, shared, category_id, status)
      VALUES (pet.account_id, pet.id, word, size, pet.category_id, pet.status);
    END IF;
    earlier := word;
  END LOOP;
END
$$;

CREATE FUNCTION add_pet_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM split_pet_name(NEW);
  RETURN NULL;
END
$$;
CREATE FUNCTION rename_pet_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM pet_words WHERE account_id = NEW.account_id AND pet_id = NEW.id;
  PERFORM split_pet_name(NEW);
  RETURN NULL;
END
$$;
CREATE FUNCTION move_pet_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE pet_words SET status = NEW.status, category_id = NEW.category_id WHERE account_id = NEW.account_id AND pet_id = NEW.id;
  RETURN NULL;
END
$$;
CREATE FUNCTION remove_pet_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM pet_words WHERE account_id = OLD.account_id AND pet_id = OLD.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER pet_words_added AFTER INSERT ON pets FOR EACH ROW WHEN (NEW.name_key ~ '[^a-z0-9]') EXECUTE FUNCTION add_pet_words();
CREATE TRIGGER pet_words_renamed AFTER UPDATE ON pets FOR EACH ROW WHEN (NEW.name_key <> OLD.name_key) EXECUTE FUNCTION rename_pet_words();
CREATE TRIGGER pet_words_moved AFTER UPDATE ON pets FOR EACH ROW
WHEN ((NEW.status <> OLD.status OR NEW.category_id <> OLD.category_id) AND NEW.name_key ~ '[^a-z0-9]') EXECUTE FUNCTION move_pet_words();
-- In place of a foreign key, which would look the pet up for each word.
CREATE TRIGGER pet_words_removed AFTER DELETE ON pets FOR EACH ROW WHEN (OLD.name_key ~ '[^a-z0-9]') EXECUTE FUNCTION remove_pet_words();

-- The facts of pets by which buyers choose. A profile has them as JSON; `facts` has those that lists filter by, with the category and status that
-- lists filter by too, so that a page costs the same however few pets match (specification 2.7). A node of an earlier release changes pets too,
-- so the database itself carries their changes over.
ALTER TABLE profiles ADD COLUMN facts TEXT;
CREATE TABLE facts (
  account_id BIGINT NOT NULL,
  pet_id BIGINT NOT NULL,
  fact TEXT NOT NULL,
  value TEXT NOT NULL,
  value_key TEXT COLLATE "C" NOT NULL,
  category_id BIGINT NOT NULL,
  status TEXT NOT NULL,
  PRIMARY KEY (account_id, pet_id, fact),
  FOREIGN KEY (account_id, pet_id) REFERENCES profiles (account_id, pet_id) ON DELETE CASCADE
);
CREATE INDEX facts_by_value ON facts (account_id, fact, value_key, status, pet_id);
CREATE INDEX facts_by_category_value ON facts (account_id, fact, value_key, category_id, status, pet_id);

CREATE FUNCTION move_facts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE facts SET status = NEW.status, category_id = NEW.category_id WHERE account_id = NEW.account_id AND pet_id = NEW.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER facts_moved AFTER UPDATE OF status, category_id ON pets FOR EACH ROW
WHEN (NEW.status <> OLD.status OR NEW.category_id <> OLD.category_id) EXECUTE FUNCTION move_facts();

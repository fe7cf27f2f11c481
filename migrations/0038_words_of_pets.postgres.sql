-- The words of the names that were there before. A name of plain letters has only one. The lock of a row keeps a node that still serves from
-- changing the pet until its words are there. Words that such a node wrote while this waited for the lock are written anew.
DO $$
DECLARE
  pet pets;
BEGIN
  FOR pet IN SELECT * FROM pets WHERE name_key ~ '[^a-z0-9]' FOR SHARE LOOP
    DELETE FROM pet_words WHERE account_id = pet.account_id AND pet_id = pet.id;
    PERFORM split_pet_name(pet);
  END LOOP;
END
$$;

-- Made last, because one sort is quicker than a look-up for each word.
CREATE INDEX pet_words_by_word ON pet_words (account_id, shared, word, pet_id);
CREATE INDEX pet_words_by_status_word ON pet_words (account_id, status, shared, word, pet_id);
CREATE INDEX pet_words_by_category_word ON pet_words (account_id, category_id, shared, word, pet_id);
CREATE INDEX pet_words_by_category_status_word ON pet_words (account_id, category_id, status, shared, word, pet_id);

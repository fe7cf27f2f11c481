-- The words of the names that were there before. A name of plain letters has only one.
INSERT INTO names_to_split SELECT account_id, id, name_key, category_id, status FROM pets WHERE name_key GLOB '*[^a-z0-9]*';

-- Made last, because one sort is quicker than a look-up for each word.
CREATE INDEX pet_words_by_word ON pet_words (account_id, shared, word, pet_id);
CREATE INDEX pet_words_by_status_word ON pet_words (account_id, status, shared, word, pet_id);
CREATE INDEX pet_words_by_category_word ON pet_words (account_id, category_id, shared, word, pet_id);
CREATE INDEX pet_words_by_category_status_word ON pet_words (account_id, category_id, status, shared, word, pet_id);

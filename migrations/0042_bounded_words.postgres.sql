-- Splits names at a bounded cost: only their first 200 characters (specification 2.1), no row
-- for a word that the name begins with, and `shared` by halves instead of character by character.
CREATE OR REPLACE FUNCTION split_pet_name(pet pets) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  spaced TEXT := translate(left(pet.name_key, 200), E'\t\n\u000B\f\r\u0085\u1680\u2028\u2029', '         ');
  parted TEXT := translate(spaced, '-/()[]"''.,&+*#:;_', '                 ');
  word TEXT COLLATE "C";
  before TEXT := '';
  size INTEGER;
  step INTEGER;
BEGIN
  FOR word IN SELECT DISTINCT part COLLATE "C" AS part
    FROM unnest((string_to_array(spaced, ' '))[1:33] || (string_to_array(parted, ' '))[1:33]) AS part
    WHERE part <> '' AND NOT starts_with(pet.name_key, part) ORDER BY part
  LOOP
    size := 0;
    step := 128;
    WHILE step > 0 LOOP
      IF size + step < length(word)
        AND (starts_with(pet.name_key, left(word, size + step)) OR starts_with(before, left(word, size + step))) THEN
        size := size + step;
      END IF;
      step := step / 2;
    END LOOP;
    INSERT INTO pet_words (account_id, pet_id, word, shared, category_id, status)
    VALUES (pet.account_id, pet.id, word, size, pet.category_id, pet.status);
    before := word;
  END LOOP;
END
$$;

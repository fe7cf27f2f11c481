-- Splits names at a bounded cost: only their first 200 characters (specification 2.1), no row
-- for a word that the name begins with, and `shared` by halves instead of character by character.
DROP TRIGGER names_split;
-- Each text becomes a list by replacing its spaces in the JSON of it. `LAG` gives the word before, with which a word shares most of all earlier
-- ones. Each step adds its length if the word still begins like the name or the word before; `OFFSET 0` keeps SQLite from writing the steps out
-- into one another, which would take 3 to the power of 8 of them. A trigger can neither recurse nor name a query.
CREATE TRIGGER names_split INSTEAD OF INSERT ON names_to_split BEGIN
  INSERT INTO pet_words (account_id, pet_id, word, shared, category_id, status)
  SELECT NEW.account_id, NEW.id, word, n, NEW.category_id, NEW.status
  FROM (SELECT word, before, n + 1 * (substr(word, 1, n + 1) IN (substr(NEW.name_key, 1, n + 1), substr(before, 1, n + 1))) AS n
  FROM (SELECT word, before, n + 2 * (substr(word, 1, n + 2) IN (substr(NEW.name_key, 1, n + 2), substr(before, 1, n + 2))) AS n
  FROM (SELECT word, before, n + 4 * (substr(word, 1, n + 4) IN (substr(NEW.name_key, 1, n + 4), substr(before, 1, n + 4))) AS n
  FROM (SELECT word, before, n + 8 * (substr(word, 1, n + 8) IN (substr(NEW.name_key, 1, n + 8), substr(before, 1, n + 8))) AS n
  FROM (SELECT word, before, n + 16 * (substr(word, 1, n + 16) IN (substr(NEW.name_key, 1, n + 16), substr(before, 1, n + 16))) AS n
  FROM (SELECT word, before, n + 32 * (substr(word, 1, n + 32) IN (substr(NEW.name_key, 1, n + 32), substr(before, 1, n + 32))) AS n
  FROM (SELECT word, before, n + 64 * (substr(word, 1, n + 64) IN (substr(NEW.name_key, 1, n + 64), substr(before, 1, n + 64))) AS n
  FROM (SELECT word, before, n + 128 * (substr(word, 1, n + 128) IN (substr(NEW.name_key, 1, n + 128), substr(before, 1, n + 128))) AS n
  FROM (SELECT part.value AS word, COALESCE(LAG(part.value) OVER (ORDER BY part.value), '') AS before, 0 AS n
  FROM json_each(json_array(substr(NEW.name_key, 1, 200),
    replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
      substr(NEW.name_key, 1, 200), '-', ' '), '/', ' '), '(', ' '), ')', ' '), '[', ' '), ']', ' '), '"', ' '), '''', ' '), '.', ' '), ',', ' '),
      '&', ' '), '+', ' '), '*', ' '), '#', ' '), ':', ' '), ';', ' '), '_', ' '))) AS text,
    json_each('[' || replace(json_quote(
      replace(replace(replace(replace(replace(replace(replace(replace(replace(text.value, char(9), ' '), char(10), ' '), char(11), ' '),
        char(12), ' '), char(13), ' '), char(133), ' '), char(5760), ' '), char(8232), ' '), char(8233), ' ')
    ), ' ', '","') || ']') AS part
  WHERE part.value <> '' AND part.key <= 32 AND part.value <> substr(NEW.name_key, 1, length(part.value))
  GROUP BY part.value
  ) LIMIT -1 OFFSET 0) LIMIT -1 OFFSET 0) LIMIT -1 OFFSET 0) LIMIT -1 OFFSET 0) LIMIT -1 OFFSET 0) LIMIT -1 OFFSET 0) LIMIT -1 OFFSET 0) LIMIT -1 OFFSET 0);
END;

-- A name without spaces and marks has one word, which is the name.
DROP TRIGGER pet_words_added;
CREATE TRIGGER pet_words_added AFTER INSERT ON pets
WHEN NEW.name_key GLOB '*[] /([)"''.,&+*#:;_' || char(9, 10, 11, 12, 13, 133, 5760, 8232, 8233) || '-]*' BEGIN
  INSERT INTO names_to_split VALUES (NEW.account_id, NEW.id, NEW.name_key, NEW.category_id, NEW.status);
END;

-- The key of an animal's name has 200 code points at most.
UPDATE pets SET name_key = substr(name_key, 1, 200) WHERE length(name_key) > 200;

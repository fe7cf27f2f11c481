-- Identifiers count up by the sequences of 0002_sequences.postgres.sql: those of older data get their names.
UPDATE sequences SET name = 'account_ids' WHERE name = 'accounts';
UPDATE sequences SET name = 'key_ids' WHERE name = 'keys';
UPDATE sequences SET name = 'category_ids' WHERE name = 'categories';
UPDATE sequences SET name = 'pet_ids' WHERE name = 'pets';
UPDATE sequences SET name = 'order_ids' WHERE name = 'orders';

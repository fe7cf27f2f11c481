-- No query uses it: a claim of endpoints also looks for those whose account has new events, so it reads every endpoint. PostgreSQL keeps it, like
-- all indexes, while nodes of an earlier version may run beside this one.
DROP INDEX webhooks_due;

-- Without statistics SQLite plans as if an account had ten rows of a table, and may read all of them in place of an index. These say that it has
-- many (decision 0112). They are written by hand: the plans of a shop must not change as it grows.
ANALYZE sqlite_schema;
DELETE FROM sqlite_stat1;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('pets', 'pets', '1000000 100000 1'),
  ('pets', 'pets_by_name', '1000000 100000 10 1'),
  ('pets', 'pets_by_status', '1000000 100000 30000 1'),
  ('pets', 'pets_by_status_name', '1000000 100000 30000 5 1'),
  ('pets', 'pets_by_category', '1000000 100000 5000 1'),
  ('pets', 'pets_by_category_name', '1000000 100000 5000 5 1'),
  ('pets', 'pets_by_category_status', '1000000 100000 5000 2000 1'),
  ('pets', 'pets_by_category_status_name', '1000000 100000 5000 2000 2 1'),
  ('inventory', 'inventory', '1000000 100000 1'),
  ('inventory', 'inventory_by_status', '1000000 100000 30000 1'),
  ('orders', 'orders', '1000000 100000 1'),
  ('orders', 'orders_by_complete', '1000000 100000 50000 1'),
  ('orders', 'orders_by_pet_complete', '1000000 100000 10 5 1'),
  ('photos', 'sqlite_autoindex_photos_1', '1000000 100000 1'),
  ('photos', 'photos_by_pet', '1000000 100000 5 1 1'),
  ('photo_files', 'sqlite_autoindex_photo_files_1', '1000000 100000 10 5 1'),
  ('photo_files', 'photo_files_by_hash', '1000000 2'),
  ('events', 'sqlite_autoindex_events_1', '1000000 100000 1'),
  ('events', 'events_by_type', '1000000 100000 5000 1'),
  ('events', 'events_of_order_changes', '100000 10000 2 1');
ANALYZE sqlite_schema;

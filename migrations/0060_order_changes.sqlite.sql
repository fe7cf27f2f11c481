-- SQLite makes a table of the values after IN for each INSERT of events, to see whether the index has them. That was a quarter of the INSERT; these
-- comparisons cost nothing beside it. The index keeps its rows, and gets the statistics that it had (decision 0112).

-- Step: the index of changes of orders
DROP INDEX events_of_order_changes;
CREATE INDEX events_of_order_changes ON events (account_id, resource, position)
WHERE (type = 'order.updated' OR type = 'order.completed' OR type = 'order.cancelled');
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('events', 'events_of_order_changes', '100000 10000 2 1');
ANALYZE sqlite_schema;

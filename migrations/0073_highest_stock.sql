-- The most free units that an inventory entry has had (decision 0130). NULL: unknown, for an entry from before, until somebody sets its count.
ALTER TABLE inventory ADD COLUMN highest BIGINT;
ALTER TABLE bin ADD COLUMN stock_highest BIGINT;

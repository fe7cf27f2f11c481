-- A change may be of a host name too. (SQLite takes text in a column of any type.)
ALTER TABLE changes ALTER COLUMN subject TYPE TEXT;

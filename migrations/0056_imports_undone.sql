-- How many pets the undo of an import has gone through so far.
ALTER TABLE imports ADD COLUMN undone BIGINT NOT NULL DEFAULT 0;

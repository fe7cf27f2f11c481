-- Who asked to undo an import, for the events of the undo.
ALTER TABLE imports ADD COLUMN undone_by TEXT;

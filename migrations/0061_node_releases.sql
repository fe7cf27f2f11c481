-- The release of each node, and the machine and process that it is. Nodes of 1.2.0 and earlier leave them empty.
ALTER TABLE nodes ADD COLUMN release TEXT;
ALTER TABLE nodes ADD COLUMN host TEXT;

-- How often a process has begun to unpack the upload and not ended it in order: each claim adds one, and what ends without the process takes it back.
ALTER TABLE deployments ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;

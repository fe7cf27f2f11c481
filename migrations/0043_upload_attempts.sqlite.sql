-- How often a process has begun to unpack the upload and not ended it in order: each claim adds one, and what ends without the process takes it back.
ALTER TABLE deployments ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;

-- Finds whether another deployment has a file in the index alone. Without its last column, SQLite read all files of the account for each one.
DROP INDEX files_by_account_hash;
CREATE INDEX files_by_account_hash ON files (account_id, hash, deployment_id);

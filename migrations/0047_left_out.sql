-- The files of an upload that a deployment leaves out: how many, and the paths of some of them, as JSON.
ALTER TABLE deployments ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deployments ADD COLUMN left_out_paths TEXT NOT NULL DEFAULT '[]';

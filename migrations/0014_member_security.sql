-- When the member last entered the password in a session (ms since the Unix epoch): sensitive changes ask for it
-- again.
ALTER TABLE sessions ADD COLUMN confirmed_at BIGINT NOT NULL DEFAULT 0;
-- The last reset of a member: when, and by which owner's email, or `operator` from the command line.
ALTER TABLE members ADD COLUMN reset_at BIGINT;
ALTER TABLE members ADD COLUMN reset_by TEXT;

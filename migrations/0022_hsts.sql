-- Whether the custom names of a project tell browsers to open them over HTTPS only (HSTS).
ALTER TABLE projects ADD COLUMN hsts BOOLEAN NOT NULL DEFAULT TRUE;
-- HSTS lasts a day in the week after a name was first verified, and a year from then on. A name lapses unless it is verified within 48 hours
-- after it was added, so those that are verified already were so soon after that.
ALTER TABLE domains ADD COLUMN first_verified_at BIGINT;
UPDATE domains SET first_verified_at = created_at WHERE verified_at IS NOT NULL;

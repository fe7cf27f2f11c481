-- A name that is to be the primary one as soon as visitors can be sent to it; until then the earlier one stays.
ALTER TABLE domains ADD COLUMN becomes_primary BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE projects ADD COLUMN redirect_to_primary BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX domains_primary ON domains (account_id, project_id) WHERE (is_primary OR becomes_primary);
CREATE INDEX domains_redirecting ON domains (account_id, project_id, hostname) WHERE redirect_to IS NOT NULL;

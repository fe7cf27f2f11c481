-- Limits and holds belong to the authority, named by its directory: those of one do not delay orders at another. Null: saved by an earlier release,
-- and so counted at every authority.
ALTER TABLE acme_usage ADD COLUMN directory_url TEXT;
ALTER TABLE certificate_holds ADD COLUMN directory_url TEXT;

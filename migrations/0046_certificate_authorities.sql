-- Each certificate belongs to the authority that issued it, named by its directory: its identifier is used at no other (decision 0104). It is null
-- until the first start with this release, which takes the configured authority. `replace_asked`: a person asked for a certificate of the configured authority.
ALTER TABLE certificates ADD COLUMN directory_url TEXT;
ALTER TABLE certificates ADD COLUMN replace_asked BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE own_certificates ADD COLUMN directory_url TEXT;

-- Whether the system's roots trust what the authority issues; null until it has issued a certificate.
ALTER TABLE acme_accounts ADD COLUMN is_trusted BOOLEAN;

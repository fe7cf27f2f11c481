-- The operator asked for a certificate of the configured authority in place of this one (decision 0104).
ALTER TABLE own_certificates ADD COLUMN replace_asked BOOLEAN NOT NULL DEFAULT FALSE;

-- An encrypted secret begins with `v1.` and the id of its key: these find what is encrypted with an earlier key.
CREATE INDEX certificates_by_secrets_key ON certificates ((substr(key, 1, 11)));
CREATE INDEX certificate_orders_by_secrets_key ON certificate_orders ((substr(key, 1, 11)));
CREATE INDEX challenges_by_secrets_key ON challenges ((substr(certificate_key, 1, 11)));
-- The ids of the keys that a node holds, the one that it encrypts with first; NULL for a node that does not say.
ALTER TABLE nodes ADD COLUMN secrets_keys TEXT;

-- The uses of the certificate authority's limits.
ALTER TABLE spends RENAME TO acme_usage;
DROP INDEX spends_by_subject;
DROP INDEX spends_by_age;
CREATE INDEX acme_usage_by_subject ON acme_usage (limit_name, subject, at);
CREATE INDEX acme_usage_by_age ON acme_usage (at);
UPDATE sequences SET name = 'acme_usage_ids' WHERE name = 'spend_ids';

-- The uses of the certificate authority's limits.
ALTER TABLE spends RENAME TO acme_usage;
ALTER INDEX spends_pkey RENAME TO acme_usage_pkey;
ALTER INDEX spends_by_subject RENAME TO acme_usage_by_subject;
ALTER INDEX spends_by_age RENAME TO acme_usage_by_age;
ALTER SEQUENCE spend_ids RENAME TO acme_usage_ids;

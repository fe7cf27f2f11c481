-- A key is found by its identifier alone, and links that have expired by their age, however many accounts there are.
CREATE UNIQUE INDEX keys_by_id ON keys (id);
CREATE INDEX sign_in_links_by_age ON sign_in_links (expires_at);

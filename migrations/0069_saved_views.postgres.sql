-- The filters and orders of the dashboard's lists that members saved under a name. `query` is JSON.
CREATE TABLE saved_views (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  id BIGINT NOT NULL,
  list TEXT NOT NULL,
  name TEXT NOT NULL,
  query TEXT NOT NULL,
  PRIMARY KEY (account_id, id)
);
CREATE SEQUENCE saved_view_ids;

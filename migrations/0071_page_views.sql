-- How many pages of its storefronts an account has shown on each day (in UTC, days since 1970-01-01). Nothing about who saw them.
CREATE TABLE page_views (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  day BIGINT NOT NULL,
  views BIGINT NOT NULL,
  PRIMARY KEY (account_id, day)
);
CREATE INDEX page_views_by_day ON page_views (day);

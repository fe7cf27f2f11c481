-- The newest requests of an account's keys, for the dashboard. `position` is the time of the answer in ms times 1,000, plus a number that tells
-- the requests of one ms apart. `route` is the template of the path, such as /v1/pets/{petId}, null for a path that does not exist.
CREATE TABLE request_log (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  position BIGINT NOT NULL,
  key_id BIGINT NOT NULL,
  method TEXT NOT NULL,
  route TEXT,
  status BIGINT NOT NULL,
  PRIMARY KEY (account_id, position)
);
CREATE INDEX request_log_by_age ON request_log (position);

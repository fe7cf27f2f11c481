-- Keys of names fold by a version of Unicode and of our own rules (decision 0107). The row says by which the stored keys do, and how far folding them
-- anew has come. A node of an earlier release, whose `folding` is null, writes keys of its own.
CREATE TABLE folded_names (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  folding TEXT NOT NULL,
  kind TEXT NOT NULL,
  account_id BIGINT NOT NULL,
  last_id BIGINT NOT NULL
);
ALTER TABLE nodes ADD COLUMN folding TEXT;

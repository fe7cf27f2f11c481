-- The bytes that all nodes share: uploads that wait to be unpacked, and published files with their compressed forms.
-- A blob gets its name with its last piece: what has a name is whole.
CREATE TABLE blobs (
  id TEXT PRIMARY KEY,
  name TEXT UNIQUE,
  bytes BIGINT,
  sha256 TEXT,
  made_at BIGINT NOT NULL
);
CREATE INDEX blobs_by_age ON blobs (made_at) WHERE name IS NULL OR name LIKE 'upload/%';

CREATE TABLE blob_pieces (
  blob_id TEXT NOT NULL REFERENCES blobs (id) ON DELETE CASCADE,
  piece INTEGER NOT NULL,
  content BYTEA NOT NULL,
  PRIMARY KEY (blob_id, piece)
);
-- They are compressed already, or not worth it.
ALTER TABLE blob_pieces ALTER COLUMN content SET STORAGE EXTERNAL;

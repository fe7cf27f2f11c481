-- Who signs in to the dashboard, by account: an email may be known in several, each with a password of its own.
-- `salt` is the same wherever the email is, so that one computation answers for all of them. The owner of the first
-- start has no email before giving one. `password` is a PHC string, null until one is set.
CREATE TABLE members (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  id BIGINT NOT NULL,
  email TEXT,
  email_key TEXT,
  role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
  salt TEXT NOT NULL,
  password TEXT,
  created_at BIGINT NOT NULL,
  signed_in_at BIGINT,
  PRIMARY KEY (account_id, id),
  UNIQUE (account_id, email_key)
);
CREATE INDEX members_by_email ON members (email_key);

-- The newest sign-in link of a member: only the hash of its token.
CREATE TABLE sign_in_links (
  account_id BIGINT NOT NULL,
  member_id BIGINT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, member_id),
  FOREIGN KEY (account_id, member_id) REFERENCES members (account_id, id) ON DELETE CASCADE
);

-- Only the hash of what the cookie holds. `seen_at` is kept to the minute.
CREATE TABLE sessions (
  account_id BIGINT NOT NULL,
  id BIGINT NOT NULL,
  member_id BIGINT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, id),
  FOREIGN KEY (account_id, member_id) REFERENCES members (account_id, id) ON DELETE CASCADE
);
CREATE INDEX sessions_by_member ON sessions (account_id, member_id, seen_at);
CREATE INDEX sessions_by_age ON sessions (created_at);
CREATE INDEX sessions_by_use ON sessions (seen_at);

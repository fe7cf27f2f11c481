-- The passkeys of members. `rp_id` is the host of PUBLIC_URL for which a passkey was made, and the only one for which it works. The
-- random `user_handle` is the same for all passkeys of a member.
CREATE TABLE passkeys (
  account_id BIGINT NOT NULL,
  member_id BIGINT NOT NULL,
  credential_id TEXT NOT NULL UNIQUE,
  public_key TEXT NOT NULL,
  counter BIGINT NOT NULL,
  transports TEXT NOT NULL,
  user_handle TEXT NOT NULL,
  rp_id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  used_at BIGINT,
  PRIMARY KEY (account_id, member_id, credential_id),
  FOREIGN KEY (account_id, member_id) REFERENCES members (account_id, id) ON DELETE CASCADE
);

-- Challenges that have been answered, until they would have expired: each is answered once.
CREATE TABLE answered_challenges (
  hash TEXT PRIMARY KEY,
  expires_at BIGINT NOT NULL
);
CREATE INDEX answered_challenges_by_expiry ON answered_challenges (expires_at);

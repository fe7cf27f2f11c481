-- The authenticator app of a member. `secret` is encrypted for the member's id; NULL in `enabled_at` until the member has entered a
-- code. Each code is accepted once: only steps after `used_step`. `wrong` counts wrong codes of the day that began at `wrong_since`.
CREATE TABLE authenticator_apps (
  account_id BIGINT NOT NULL,
  member_id BIGINT NOT NULL,
  secret TEXT NOT NULL,
  enabled_at BIGINT,
  used_step BIGINT NOT NULL,
  wrong INTEGER NOT NULL,
  wrong_since BIGINT NOT NULL,
  PRIMARY KEY (account_id, member_id),
  FOREIGN KEY (account_id, member_id) REFERENCES members (account_id, id) ON DELETE CASCADE
);
CREATE INDEX authenticator_apps_by_secrets_key ON authenticator_apps ((substr(secret, 1, 11)));

-- Only hashes of the recovery codes that are left.
CREATE TABLE recovery_codes (
  account_id BIGINT NOT NULL,
  member_id BIGINT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (account_id, member_id, hash),
  FOREIGN KEY (account_id, member_id) REFERENCES members (account_id, id) ON DELETE CASCADE
);

-- Sign-ins with the right password that wait for a second factor. `hash` is of the token in the browser's cookie.
CREATE TABLE pending_sign_ins (
  account_id BIGINT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  member_id BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, hash),
  FOREIGN KEY (account_id, member_id) REFERENCES members (account_id, id) ON DELETE CASCADE
);
CREATE INDEX pending_sign_ins_by_member ON pending_sign_ins (account_id, member_id);
CREATE INDEX pending_sign_ins_by_expiry ON pending_sign_ins (expires_at);

-- The last time that somebody else removed the member's second factors: when, and who, as in `reset_by`.
ALTER TABLE members ADD COLUMN factors_reset_at BIGINT;
ALTER TABLE members ADD COLUMN factors_reset_by TEXT;

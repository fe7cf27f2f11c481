-- When an account's uploads were last taken to be unpacked: whose turn was longest ago is next.
CREATE TABLE deployment_turns (account_id BIGINT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE, number BIGINT NOT NULL);
CREATE INDEX deployment_turns_by_number ON deployment_turns (number);

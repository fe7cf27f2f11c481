-- Each node counts its heartbeats here and in its DATA_DIR. A count that is lower here says that the database went back in time.
CREATE TABLE node_beats (
  node TEXT PRIMARY KEY,
  beats BIGINT NOT NULL,
  at BIGINT NOT NULL
);

-- When the state of the database was accepted, by an operator, a restore or a move: nodes then go on although it lacks what they know.
CREATE TABLE accepted_states (
  at BIGINT PRIMARY KEY
);
INSERT INTO accepted_states (at)
SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) WHERE EXISTS (SELECT 1 FROM accounts);

-- The losses of a database that went back in time, each as a node found it. A loss is pending, and no node takes writes, until `accepted_states` has a row
-- later than `last_accepted`, the newest that the node saw. `details` (JSON) has what is lost, for `petstore verify`.
CREATE TABLE database_losses (
  node TEXT NOT NULL,
  lost_to BIGINT NOT NULL,
  lost_from BIGINT,
  found_at BIGINT NOT NULL,
  last_accepted BIGINT NOT NULL,
  details TEXT NOT NULL,
  PRIMARY KEY (node, lost_to)
);

-- Identifiers count up by sequences, whose names no table has.
CREATE SEQUENCE project_ids;
CREATE SEQUENCE deployment_ids;
CREATE SEQUENCE domain_ids;
CREATE SEQUENCE certificate_ids;
CREATE SEQUENCE spend_ids;

CREATE SEQUENCE member_ids;
CREATE SEQUENCE session_ids;

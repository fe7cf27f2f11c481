-- Names that the authority has just failed for: until when (ms) it is left alone with each, whoever asks.
CREATE TABLE certificate_holds (hostname TEXT PRIMARY KEY, until BIGINT NOT NULL);
CREATE INDEX certificate_holds_by_age ON certificate_holds (until);

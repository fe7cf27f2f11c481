-- Which life of which node holds a row until its `…lease_until`: when that has ended, the row is free at once.
ALTER TABLE deployments ADD COLUMN lease_life TEXT;
ALTER TABLE domains ADD COLUMN check_lease_life TEXT;
ALTER TABLE domains ADD COLUMN certificate_lease_life TEXT;

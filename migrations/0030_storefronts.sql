-- The settings of the built-in storefront that a deployment serves, as JSON; null if it serves only its files.
ALTER TABLE deployments ADD COLUMN storefront TEXT;

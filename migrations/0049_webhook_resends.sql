-- Whether the next attempt of a delivery was asked for, by a test or a resend: it begins at once, also while the endpoint has asked for a pause.
ALTER TABLE webhook_deliveries ADD COLUMN ignores_pause BOOLEAN NOT NULL DEFAULT FALSE;

-- When an order was placed, and what one unit then cost: beside the order's exact model. Null for an order that was placed earlier than this migration or by a
-- node of an earlier release, and for an order of an animal without a price.
ALTER TABLE orders ADD COLUMN placed_at BIGINT;
ALTER TABLE orders ADD COLUMN price_amount BIGINT;
ALTER TABLE orders ADD COLUMN price_currency TEXT;

-- By which the orders of one customer are found: the email and the last digits of the telephone number of their contacts.
ALTER TABLE contacts ADD COLUMN email_key TEXT;
ALTER TABLE contacts ADD COLUMN phone_key TEXT;
CREATE INDEX contacts_by_email ON contacts (account_id, email_key, order_id) WHERE email_key IS NOT NULL;
CREATE INDEX contacts_by_phone ON contacts (account_id, phone_key, order_id) WHERE phone_key IS NOT NULL;

-- Who ordered: how a shop reaches the customer of an order, beside the order's exact model. `completed_at` is when the order was completed, null while
-- it is open: a contact is deleted so many days after it as `contact_days` of its account says.
CREATE TABLE contacts (
  account_id BIGINT NOT NULL,
  order_id BIGINT NOT NULL,
  name TEXT,
  email TEXT,
  phone TEXT,
  address TEXT,
  note TEXT,
  completed_at BIGINT,
  version BIGINT NOT NULL,
  PRIMARY KEY (account_id, order_id),
  FOREIGN KEY (account_id, order_id) REFERENCES orders (account_id, id) ON DELETE CASCADE
);
CREATE INDEX contacts_by_completion ON contacts (account_id, completed_at) WHERE completed_at IS NOT NULL;
ALTER TABLE accounts ADD COLUMN contact_days BIGINT NOT NULL DEFAULT 180 CHECK (contact_days BETWEEN 1 AND 3650);

-- When an order was completed; null for an open one, and for one that was completed earlier than this migration or by a node of an earlier release.
ALTER TABLE orders ADD COLUMN completed_at BIGINT;

-- The database itself marks the contact, so that a node of an earlier release, which knows no contacts, does so too.
CREATE FUNCTION complete_contact() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE contacts SET completed_at = COALESCE(NEW.completed_at, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT))
  WHERE account_id = NEW.account_id AND order_id = NEW.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER contacts_completed AFTER UPDATE OF complete ON orders FOR EACH ROW WHEN (NEW.complete AND NOT OLD.complete)
EXECUTE FUNCTION complete_contact();

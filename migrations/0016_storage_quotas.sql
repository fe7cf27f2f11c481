-- What an account stores and how much it may store, by kind: the sums of its stripes, among which the limit is shared out.
-- `used` is kept in step with the rows of the other tables, in their transactions. `records` are animals, categories, orders
-- that are not complete, and stock entries.
CREATE TABLE storage_quotas (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('records', 'published_bytes')),
  stripe BIGINT NOT NULL,
  used BIGINT NOT NULL,
  used_max BIGINT NOT NULL,
  PRIMARY KEY (account_id, kind, stripe)
);

-- An account that already stores more than its plan allows keeps what it stores as its limit.
INSERT INTO storage_quotas (account_id, kind, stripe, used, used_max)
WITH RECURSIVE stripes (stripe) AS (SELECT 0 UNION ALL SELECT stripe + 1 FROM stripes WHERE stripe < 63),
counted (account_id, plan_max, used) AS (
  SELECT accounts.id,
    CASE plan WHEN 'free' THEN 25000 WHEN 'pro' THEN 250000 ELSE 5000000 END,
    (SELECT COUNT(*) FROM categories WHERE categories.account_id = accounts.id)
      + (SELECT COUNT(*) FROM pets WHERE pets.account_id = accounts.id)
      + (SELECT COUNT(*) FROM inventory WHERE inventory.account_id = accounts.id)
      + (SELECT COUNT(*) FROM orders WHERE orders.account_id = accounts.id AND complete = FALSE)
  FROM accounts
),
roomy (account_id, used, room) AS (
  SELECT account_id, used, CASE WHEN used > plan_max THEN 0 ELSE plan_max - used END FROM counted
)
SELECT account_id, 'records', stripe,
  CASE stripe WHEN 0 THEN used ELSE 0 END,
  CASE stripe WHEN 0 THEN used + room / 64 + room % 64 ELSE room / 64 END
FROM roomy CROSS JOIN stripes;

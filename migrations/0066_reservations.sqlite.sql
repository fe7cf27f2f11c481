-- What visitors of a storefront reserved or asked about (specification 2.10). A reservation has an order, which holds its unit and has its contact; an
-- enquiry has none, and its contact is here. `link_hash` is of the secret in the visitor's link. `lapses_at` is null once it lapses no more, and
-- `ended_at` is null until it ends. The row is deleted so many days after its end as `contact_days` of its account says. `visitor` is
-- a keyed hash of the visitor's address, which bounds what one visitor holds; it is null once the row has ended.
CREATE TABLE reservations (
  account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  id BIGINT NOT NULL,
  pet_id BIGINT NOT NULL,
  order_id BIGINT,
  state TEXT NOT NULL,
  link_hash TEXT NOT NULL,
  lapses_at BIGINT,
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  name TEXT,
  email TEXT,
  phone TEXT,
  note TEXT,
  visitor TEXT,
  version BIGINT NOT NULL,
  PRIMARY KEY (account_id, id)
);
CREATE UNIQUE INDEX reservations_by_link ON reservations (account_id, link_hash);
CREATE UNIQUE INDEX reservations_by_order ON reservations (account_id, order_id) WHERE order_id IS NOT NULL;
CREATE INDEX reservations_by_state ON reservations (account_id, state, id);
CREATE INDEX reservations_by_time ON reservations (account_id, created_at);
CREATE INDEX reservations_by_end ON reservations (account_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX reservations_to_lapse ON reservations (lapses_at, account_id, id) WHERE lapses_at IS NOT NULL;

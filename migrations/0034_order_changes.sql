-- The changes of one order. Not its placing, so that no order that is placed pays for the index: `order.created` events have ascending ids.
CREATE INDEX events_of_order_changes ON events (account_id, resource, position) WHERE type IN ('order.updated', 'order.completed', 'order.cancelled');

CREATE SEQUENCE webhook_ids;
CREATE SEQUENCE webhook_delivery_ids;

-- Who uploaded a deployment, such as `key/3`, and the id of that request: the service unpacks it later.
ALTER TABLE deployments ADD COLUMN uploaded_by TEXT;
ALTER TABLE deployments ADD COLUMN upload_request_id TEXT;

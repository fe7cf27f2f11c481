-- How large each published file is. Sizes come from the manifests.
ALTER TABLE files ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
CREATE TABLE file_sizes (hash TEXT PRIMARY KEY, bytes BIGINT NOT NULL);
INSERT INTO file_sizes (hash, bytes)
SELECT json_extract(entry.value, '$[1].hash') AS hash, MAX(json_extract(entry.value, '$[1].size'))
FROM deployments, json_each(deployments.manifest) AS entry
WHERE deployments.manifest IS NOT NULL GROUP BY 1;
UPDATE files SET bytes = (SELECT bytes FROM file_sizes WHERE file_sizes.hash = files.hash)
WHERE hash IN (SELECT hash FROM file_sizes);
DROP TABLE file_sizes;

-- A deployment that was cut short claims its files again, with their sizes.
INSERT INTO unused_files (hash)
SELECT DISTINCT files.hash FROM files JOIN deployments ON deployments.account_id = files.account_id AND deployments.id = files.deployment_id
WHERE deployments.status = 'queued' AND deployments.manifest IS NULL
ON CONFLICT (hash) DO NOTHING;
DELETE FROM files WHERE EXISTS (SELECT 1 FROM deployments WHERE deployments.account_id = files.account_id
  AND deployments.id = files.deployment_id AND deployments.status = 'queued' AND deployments.manifest IS NULL);

CREATE INDEX files_by_account_hash ON files (account_id, hash);

-- A file that several deployments of an account have counts once. An account that already stores more than its plan allows keeps
-- what it stores as its limit.
INSERT INTO storage_quotas (account_id, kind, stripe, used, used_max)
SELECT account_id, 'published_bytes', 0, used, CASE WHEN used > plan_max THEN used ELSE plan_max END
FROM (
  SELECT accounts.id AS account_id,
    CASE plan WHEN 'free' THEN 524288000 WHEN 'pro' THEN 5368709120 ELSE 53687091200 END AS plan_max,
    (SELECT COALESCE(SUM(own.bytes), 0) FROM
      (SELECT DISTINCT files.hash, files.bytes FROM files WHERE files.account_id = accounts.id) AS own) AS used
  FROM accounts
) AS counted;

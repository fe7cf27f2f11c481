import { httpUrl, matching, secret } from "./setting.ts";

/** Where `petstore backup --to s3://…` finds its store: the variables that AWS' own tools read. */
export const backupSettings = {
  s3Endpoint: httpUrl("AWS_ENDPOINT_URL", "The S3-compatible store of `backup --to s3://…`; without it AWS in AWS_REGION"),
  s3Region: matching("AWS_REGION", /^[a-z0-9-]{1,40}$/, "a region, such as eu-central-1", "The region of that store. Default: us-east-1"),
  s3KeyId: matching("AWS_ACCESS_KEY_ID", /^[\w+/=.-]{1,200}$/, "an access key id", "The access key of that store"),
  s3Secret: secret(matching("AWS_SECRET_ACCESS_KEY", /^[\x21-\x7e]{1,200}$/, "a secret access key", "The secret of that access key")),
};

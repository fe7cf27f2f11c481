import { createHmac, randomBytes } from "node:crypto";

const secretPrefix = "whsec_";
const secretBytes = 32;

/** Creates an endpoint's secret: `whsec_` and the base64 of 32 random bytes. Standard Webhooks allows 24 to 64. */
export function newWebhookSecret(): string {
  return secretPrefix + randomBytes(secretBytes).toString("base64");
}

/** The signed parts of a message. `timestamp` is the time of the attempt, in Unix seconds. */
type Message = { id: string; timestamp: number; body: string };

/** Returns a message's headers by the Standard Webhooks specification, with a signature for each secret. */
export function signedHeaders({ id, timestamp, body }: Message, secrets: readonly string[]): Record<string, string> {
  const signatures = secrets.map((secret) => `v1,${signatureOf(secret, `${id}.${timestamp}.${body}`)}`);
  return { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": signatures.join(" ") };
}

function signatureOf(secret: string, text: string): string {
  return createHmac("sha256", Buffer.from(secret.slice(secretPrefix.length), "base64"))
    .update(text)
    .digest("base64");
}

import { Problem } from "../platform/problem.ts";

/** What the environment says about the service to call: PETSTORE_URL and PETSTORE_KEY, undefined or empty where not set. */
export type Connect = { url: string | undefined; key: string | undefined };

export const connectionOptions = { url: { type: "string" }, key: { type: "string" } } as const;

const defaultUrl = "http://localhost:8080";

/** The service and key that a command calls with: its options, else the environment. Raises `invalid_request` where there is no key. */
export function connectionOf(options: Record<string, unknown>, environment: Connect): { url: string; key: string } {
  const given = options as { url?: string; key?: string };
  const url = given.url ?? (environment.url || defaultUrl);
  const key = (given.key ?? environment.key ?? "").trim();
  if (key === "") throw new Problem("invalid_request", "a key is needed: set PETSTORE_KEY, or give --key KEY");
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Problem("invalid_request", "the key holds characters that no key has");
  return { url, key };
}

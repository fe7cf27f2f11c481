import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./api.gen.ts";
import { PetStoreError } from "./errors.ts";
import { openGate } from "./gate.ts";
import { patientFetch, type Fetch } from "./sending.ts";
import { realTiming, type Timing } from "./timing.ts";

/**
 * The operations of the service by path and method, as in `openapi-fetch`: `client.GET("/pets", …)` returns `data` or
 * `error`, and `response`. `url` is the service's origin, without a trailing slash and without `/v1`.
 */
export type PetStore = Client<paths> & { readonly url: string };
/** `url` is the service's address, with or without `/v1`. Default: the system's clock, randomness and `fetch`. */
export type Connection = { url: string; key: string; fetch?: Fetch } & Partial<Timing>;

/**
 * Creates a client of the service that keeps within its key's limits: requests wait while none are left. Use one client for each key; up to 1,000 of
 * its requests can wait at once. @throws PetStoreError `invalid_request` for an invalid address
 */
export function openClient({ url: address, key, fetch: send = (request) => fetch(request), ...timing }: Connection): PetStore {
  const url = serviceOrigin(address);
  const known: Timing = { ...realTiming, ...timing };
  const client = createClient<paths>({
    baseUrl: `${url}/v1`,
    headers: { accept: "application/json", authorization: `Bearer ${key}` },
    // A redirect would send the key to another server.
    redirect: "manual",
    fetch: patientFetch(send, openGate(known), known),
  });
  return Object.assign(client, { url });
}

function serviceOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol))
    throw new PetStoreError("invalid_request", `Not an http or https address: ${text}`);
  if (url.username !== "" || url.password !== "")
    throw new PetStoreError("invalid_request", "The address must not hold a user name or password.");
  return url.origin + withoutFinalSlashes(url.pathname).replace(/\/v1$/, "");
}

function withoutFinalSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "/") end -= 1;
  return text.slice(0, end);
}

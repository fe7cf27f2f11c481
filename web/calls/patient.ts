import createClient from "openapi-fetch";
import type { paths } from "../../client/api.gen.ts";
import type { PetStore } from "../../client/client.ts";
import { openGate } from "../../client/gate.ts";
import { patientFetch } from "../../client/sending.ts";
import { realTiming } from "../../client/timing.ts";
import { callsBelow } from "./send.ts";

type Options = {
  signal?: AbortSignal;
  /** Told how long requests are held back, in milliseconds: a limit was reached, or nothing answered. */
  onWait?: (ms: number) => void;
  /** Told the request id of each answer that is no success. */
  onRefused?: (requestId: string) => void;
};

/**
 * The operations of the API for work that lasts: it waits for limits as `Retry-After` says and tries again where nothing answered,
 * within bounds. Also of use in a worker.
 */
export function patientStore({ signal, onWait, onRefused }: Options = {}): PetStore {
  const timing = { ...realTiming, onWait: (_reason: string, ms: number) => onWait?.(ms) };
  const patient = patientFetch(sendOne, openGate(timing), timing);
  const client = createClient<paths>({
    baseUrl: `${location.origin}${callsBelow}`,
    headers: { accept: "application/json" },
    fetch: (request) => patient(signal ? new Request(request, { signal }) : request),
  });
  return Object.assign(client, { url: location.origin });

  async function sendOne(request: Request): Promise<Response> {
    const response = await fetch(request);
    const requestId = response.headers.get("x-request-id");
    if (!response.ok && requestId !== null) onRefused?.(requestId);
    return response;
  }
}

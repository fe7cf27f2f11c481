import createClient from "openapi-fetch";
import type { paths } from "../../client/api.gen.ts";
import type { PetStore } from "../../client/client.ts";
import { openGate } from "../../client/gate.ts";
import { patientFetch } from "../../client/sending.ts";
import { realTiming } from "../../client/timing.ts";
import { callsBelow } from "./send.ts";

type Options = {
  signal?: AbortSignal;
  /** Called with the delay in ms when requests wait after a limit or a failure. */
  onWait?: (ms: number) => void;
  /** Called with the request id of each response that is not a success. */
  onRefused?: (requestId: string) => void;
};

/**
 * The API's operations for long-running work: waits as `Retry-After` says after a limit and retries failed requests, within bounds.
 * Works in a worker too.
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

import createClient from "openapi-fetch";
import type { paths } from "../../client/api.gen.ts";
import type { PetStore } from "../../client/client.ts";
import { openGate } from "../../client/gate.ts";
import { patientFetch } from "../../client/sending.ts";
import { realTiming } from "../../client/timing.ts";
import { memberHeaders } from "./page-member.ts";
import { callsBelow } from "./send.ts";

type Options = {
  signal?: AbortSignal;
  /** Called with the delay in ms when requests wait after a limit or a failure. */
  onWait?: (ms: number) => void;
  /** Called with the request id of each response that is not a success. */
  onRefused?: (requestId: string) => void;
};

/**
 * The API's operations for long-running work. After a limit the client waits as `Retry-After` says, and it retries failed requests, within
 * bounds. Works in a web worker too.
 */
export function patientStore({ signal, ...listeners }: Options = {}): PetStore {
  const patient = patientSender(listeners);
  const client = createClient<paths>({
    baseUrl: `${location.origin}${callsBelow}`,
    headers: { accept: "application/json" },
    fetch: (request) => patient(signal ? new Request(request, { signal }) : request),
  });
  return Object.assign(client, { url: location.origin });
}

type Sent = { body: unknown; isDryRun: boolean; signal?: AbortSignal | undefined };

/** Sends one dashboard call with the same waits and retries. Returns its response, whatever the status. */
export function patientSend(method: string, path: string, { body, isDryRun, signal }: Sent): Promise<Response> {
  const headers = { accept: "application/json", "content-type": "application/json", ...(isDryRun && { prefer: "dry-run" }) };
  const init = { method, headers, body: JSON.stringify(body), ...(signal && { signal }) };
  return patientSender({})(new Request(`${location.origin}${callsBelow}${path}`, init));
}

function patientSender({ onWait, onRefused }: Omit<Options, "signal">): (request: Request) => Promise<Response> {
  const timing = { ...realTiming, onWait: (_reason: string, ms: number) => onWait?.(ms) };
  return patientFetch(sendOne, openGate(timing), timing);

  async function sendOne(request: Request): Promise<Response> {
    for (const [name, value] of Object.entries(memberHeaders())) request.headers.set(name, value);
    const response = await fetch(request);
    const requestId = response.headers.get("x-request-id");
    if (!response.ok && requestId !== null) onRefused?.(requestId);
    return response;
  }
}

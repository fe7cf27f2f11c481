import { texts } from "../texts/texts.ts";
import { memberHeaders } from "./page-member.ts";
import { Refusal, refusalOf } from "./refusal.ts";
import { noteServerTime } from "./server-clock.ts";

/** The path below which the dashboard's calls are (docs/dashboard-api.md); the browser adds the session cookie. */
export const callsBelow = "/dashboard/v1";
const timeoutMs = 30_000;

/** A body as JSON. NaN becomes an empty string, which the service refuses; null would count as an omitted field. */
export function jsonOf(body: unknown): string {
  return JSON.stringify(body, (_name, value: unknown) => (Number.isNaN(value) ? "" : value));
}

/** Parses a typed number. Anything else becomes NaN, which `jsonOf` sends as a value that the service refuses for this field. */
export function numberIn(text: string): number {
  return text.trim() === "" ? Number.NaN : Number(text);
}

const ended = new EventTarget();
type Ending = "signed-out" | "session-changed";

/**
 * Calls `listen` when the service reports that the session has ended, or that another member is signed in now. Returns a function that
 * removes the listener.
 */
export function onSessionLost(listen: (ending: Ending) => void): () => void {
  const listener = ({ type }: Event): void => listen(type as Ending);
  for (const type of ["signed-out", "session-changed"]) ended.addEventListener(type, listener);
  return () => {
    for (const type of ["signed-out", "session-changed"]) ended.removeEventListener(type, listener);
  };
}

/**
 * Sends a request and reads the whole response, within 30 seconds.
 *
 * @throws Refusal unless the response is 304 or a success without a body or in JSON; @throws the signal's reason when the caller aborts
 */
export async function send(request: Request): Promise<Response> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const askedAt = Date.now();
  const path = new URL(request.url).pathname;
  if (isForMember(path)) for (const [name, value] of Object.entries(memberHeaders())) request.headers.set(name, value);
  let response: Response;
  try {
    const answer = await fetch(request, { signal: AbortSignal.any([request.signal, timeout]) });
    noteServerTime(answer.headers.get("date"), askedAt, Date.now());
    response = await whole(answer);
  } catch (error) {
    if (request.signal.aborted) throw error;
    if (timeout.aborted) throw new Refusal("timed_out", texts.dashboard.timedOut(timeoutMs / 1_000), { status: 0, cause: error });
    throw new Refusal("unreachable", texts.dashboard.unreachable, { status: 0, cause: error });
  }
  const success = await successOf(response, path);
  const isReadable = success.body === null || success.headers.get("content-type")?.includes("json");
  if (isReadable) return success;
  throw new Refusal("not_the_service", texts.dashboard.notTheService, { status: success.status });
}

/**
 * Reads the JSON of a dashboard call.
 *
 * @param path below `callsBelow`, with its query
 * @throws as `send`
 */
export async function readCall<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await send(new Request(callsBelow + path, signal && { signal }));
  return (await response.json()) as T;
}

/** Reads the whole body into memory, so that reading it later cannot fail. */
async function whole(answer: Response): Promise<Response> {
  const { status, statusText, headers } = answer;
  const body = await answer.arrayBuffer();
  return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers });
}

/**
 * Returns the response to a call of this path if it is a success or 304.
 *
 * @throws Refusal otherwise; calls the listeners of `onSessionLost` if the session has ended or changed
 */
export async function successOf(response: Response, path: string): Promise<Response> {
  if (response.ok || response.status === 304) return response;
  const refusal = await refusalOf(response, texts.dashboard.answered);
  if (refusal.status === 401 && !isSigningIn(path)) ended.dispatchEvent(new Event("signed-out"));
  if (refusal.code === "session_changed") ended.dispatchEvent(new Event("session-changed"));
  throw refusal;
}

function isSigningIn(path: string): boolean {
  return path.startsWith(`${callsBelow}/sign-in`);
}

/** Every call is for the member of this page, except one that signs somebody in or asks who is signed in. */
function isForMember(path: string): boolean {
  return !isSigningIn(path) && path !== `${callsBelow}/session`;
}

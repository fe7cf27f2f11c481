import { texts } from "../texts/texts.ts";
import { Refusal, refusalOf } from "./refusal.ts";

/** What the dashboard calls (docs/dashboard-api.md); the session's cookie goes along by itself. */
export const callsBelow = "/dashboard/v1";
const timeoutMs = 30_000;

const signedOut = new EventTarget();

/** Calls `listen` whenever the service says that nobody is signed in (any more). Returns how to stop listening. */
export function onSignedOut(listen: () => void): () => void {
  signedOut.addEventListener("signed-out", listen);
  return () => signedOut.removeEventListener("signed-out", listen);
}

/**
 * Sends a request and waits for the answer's head, at most 30 seconds unless told.
 *
 * @throws Refusal unless the answer is a success or 304; an abort by the caller is raised as it is
 */
export async function send(request: Request, waitMs = timeoutMs): Promise<Response> {
  const timeout = AbortSignal.timeout(waitMs);
  let response: Response;
  try {
    response = await fetch(request, { signal: AbortSignal.any([request.signal, timeout]) });
  } catch (error) {
    if (request.signal.aborted) throw error;
    if (timeout.aborted) throw new Refusal("timed_out", texts.dashboard.timedOut(waitMs / 1_000), { status: 0, cause: error });
    throw new Refusal("unreachable", texts.dashboard.unreachable, { status: 0, cause: error });
  }
  return successOf(response, new URL(request.url).pathname);
}

/**
 * An answer to a call of this path, if it is a success or 304.
 *
 * @throws Refusal otherwise; where nobody is signed in any more, that is told as well
 */
export async function successOf(response: Response, path: string): Promise<Response> {
  if (response.ok || response.status === 304) return response;
  const refusal = await refusalOf(response, texts.dashboard.answered);
  const isSigningIn = path.startsWith(`${callsBelow}/sign-in`);
  if (refusal.status === 401 && !isSigningIn) signedOut.dispatchEvent(new Event("signed-out"));
  throw refusal;
}

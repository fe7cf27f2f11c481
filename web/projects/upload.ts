import { memberHeaders } from "../calls/page-member.ts";
import { Refusal } from "../calls/refusal.ts";
import { callsBelow, successOf } from "../calls/send.ts";
import { texts } from "../texts/texts.ts";
import type { Packed } from "./pack.ts";
import type { Deployment } from "./queries.ts";

const timeoutMs = 15 * 60_000;

type Options = { onProgress: (part: number) => void; signal: AbortSignal };

/**
 * Sends an archive within 15 minutes. Uses XMLHttpRequest because `fetch` reports no upload progress.
 *
 * @throws Refusal, or the reason of `signal`
 */
export async function upload(projectId: number, { blob, key }: Packed, { onProgress, signal }: Options): Promise<Deployment> {
  const path = `${callsBelow}/projects/${projectId}/deployments`;
  signal.throwIfAborted();
  const request = new XMLHttpRequest();
  const answered = new Promise<Response>((done, failed) => {
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total));
    request.addEventListener("load", () => done(responseOf(request)));
    request.addEventListener("error", () => failed(new Refusal("unreachable", texts.dashboard.unreachable, { status: 0 })));
    request.addEventListener("timeout", () => failed(new Refusal("timed_out", texts.projects.upload.timedOut, { status: 0 })));
    request.addEventListener("abort", () => failed(new DOMException("The upload was stopped.", "AbortError")));
  });
  const stop = (): void => request.abort();
  signal.addEventListener("abort", stop);
  try {
    request.open("POST", path);
    request.timeout = timeoutMs;
    request.setRequestHeader("accept", "application/json");
    request.setRequestHeader("content-type", blob.type);
    request.setRequestHeader("idempotency-key", key);
    for (const [name, value] of Object.entries(memberHeaders())) request.setRequestHeader(name, value);
    request.send(blob);
    const response = await successOf(await answered, path);
    return (await response.json()) as Deployment;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function responseOf(request: XMLHttpRequest): Response {
  const lines = request.getAllResponseHeaders().trim().split(/\r?\n/);
  const headers = lines.map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
  return new Response(request.responseText, { status: request.status, headers: headers.filter(([name]) => name !== "") });
}

import type { Request } from "./request.ts";

/** A response. A body is cut after `bytesMax`. */
export type Reply = {
  status: number;
  statusText: string;
  headers: [name: string, value: string][];
  body: string;
  bytes: number;
  isCut: boolean;
  /** From sending to the last byte. */
  ms: number;
};

export const timeoutMs = 30_000;
export const bytesMax = 1_048_576;

/**
 * Sends a request with the key, without cookies. Takes at most `timeoutMs`.
 *
 * @throws DOMException `TimeoutError` or `AbortError`; TypeError if there is no response
 */
export async function send({ method, url, headers, body }: Request, key: string, cancelled: AbortSignal): Promise<Reply> {
  const started = performance.now();
  const response = await fetch(url, {
    method,
    headers: [...headers, ...(key === "" ? [] : [["Authorization", `Bearer ${key}`] satisfies [string, string]])],
    ...(body !== undefined && { body }),
    credentials: "omit",
    cache: "no-store",
    referrerPolicy: "no-referrer",
    signal: AbortSignal.any([cancelled, AbortSignal.timeout(timeoutMs)]),
  });
  const { text, bytes, isCut } = await read(response);
  const ms = Math.round(performance.now() - started);
  return { status: response.status, statusText: response.statusText, headers: [...response.headers], body: text, bytes, isCut, ms };
}

async function read(response: Response): Promise<{ text: string; bytes: number; isCut: boolean }> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || !value) return { text: text + decoder.decode(), bytes, isCut: false };
    text += decoder.decode(value.subarray(0, bytesMax - bytes), { stream: true });
    bytes += value.length;
    if (bytes <= bytesMax) continue;
    await reader?.cancel();
    return { text, bytes: bytesMax, isCut: true };
  }
}

import { Problem, type ProblemCode } from "../src/platform/problem.ts";

/** What the service said. `body` is the parsed JSON, or undefined where there is none. */
export type Answer = { status: number; headers: Headers; body: unknown };
export type Query = Record<string, string | string[]>;
export type Call = { query?: Query; body?: unknown; headers?: Record<string, string> };
export type Client = {
  /** The origin that is called, without a final slash and without `/v1`. */
  url: string;
  /** Sends one request to `/v1` + path and gives its answer, whatever its status. Raises `unavailable` when there is none. */
  request(method: string, path: string, call?: Call): Promise<Answer>;
};
/** `wait` and `now` are in milliseconds. `onWait` is told why and how long a request is held back. */
export type Connection = {
  url: string;
  key: string;
  wait: (ms: number) => Promise<void>;
  now: () => number;
  random?: () => number;
  onWait?: (reason: string, ms: number) => void;
};

const timeoutMs = 60_000;
const answerBytesMax = 64 * 1024 * 1024;
const triesMax = 6;
const limitWaitsMax = 5;
const limitWaitMsMax = 15 * 60_000;
const backoffFirstMs = 250;
const backoffMsMax = 8_000;

/**
 * A caller of the service that is patient within bounds: it waits out a 429 as `Retry-After` says (RFC 9110, 10.2.3; five
 * times, 15 minutes each at most), and tries again with exponential backoff and jitter where nothing answered, on 502, 503,
 * 504 and while an earlier try with the same Idempotency-Key still runs. A POST without such a key is never sent twice.
 */
export function openClient(connection: Connection): Client {
  const { key, wait, now, random = Math.random, onWait = () => {} } = connection;
  const origin = serviceOrigin(connection.url);

  async function request(method: string, path: string, call: Call = {}): Promise<Answer> {
    const repeatable = method !== "POST" || call.headers?.["idempotency-key"] !== undefined;
    let tries = 0;
    let limitWaits = 0;
    for (;;) {
      const answer = await attempt(method, origin + "/v1" + path, key, call);
      if (answer instanceof Error) {
        tries += 1;
        if (!repeatable || tries >= triesMax) throw unreachable(origin, answer);
        await hold(`${origin} did not answer`, backoff(tries, random()));
      } else if (answer.status === 429) {
        limitWaits += 1;
        const ms = retryAfterMs(answer.headers, now()) ?? backoff(limitWaits, random());
        if (limitWaits > limitWaitsMax || ms > limitWaitMsMax) return answer;
        await hold(codeOf(answer) === "key_banned" ? "the key is banned for a while" : "the plan's limit is reached", ms);
      } else if (repeatable && comesAgain(answer)) {
        tries += 1;
        if (tries >= triesMax) return answer;
        const told = Math.min(retryAfterMs(answer.headers, now()) ?? 0, backoffMsMax);
        await hold(`${origin} is busy (${answer.status})`, Math.max(told, backoff(tries, random())));
      } else return answer;
    }
  }

  async function hold(reason: string, ms: number): Promise<void> {
    onWait(reason, ms);
    await wait(ms);
  }

  return { url: origin, request };
}

/** The pages of a list, each as it arrives; follows `Link: <…>; rel="next"` (RFC 8288). Raises the refusal of any page. */
export async function* pages(client: Client, path: string, query: Query = {}): AsyncGenerator<unknown[]> {
  let cursor: string | undefined;
  for (;;) {
    const answer = await client.request("GET", path, { query: { ...query, limit: "100", ...(cursor === undefined ? {} : { cursor }) } });
    if (answer.status !== 200 || !Array.isArray(answer.body)) throw refusal(answer);
    yield answer.body;
    const next = nextCursor(answer.headers, client.url);
    if (next === undefined) return;
    if (next === cursor) throw new Problem("internal", `The list ${path} does not come to an end.`);
    cursor = next;
  }
}

/** The `cursor` of the next page. Only it is taken from the link, so that the key never goes to another host. */
export function nextCursor(headers: Headers, base: string): string | undefined {
  for (const [, target, parameters] of (headers.get("link") ?? "").matchAll(/<([^>]*)>((?:\s*;\s*[^,;]+)*)/g)) {
    if (!/;\s*rel="?(?:[^"]*\s)?next(?:\s[^"]*)?"?\s*(?:;|$)/i.test(parameters ?? "")) continue;
    const url = URL.parse(target ?? "", base);
    return url?.searchParams.get("cursor") ?? undefined;
  }
  return undefined;
}

/** What `Retry-After` asks for, in milliseconds from `now`; undefined where it is absent or unreadable. */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const text = headers.get("retry-after")?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The answer as the Problem that it reports; of a body that is not the service's Error, only the status is told. */
export function refusal(answer: Answer): Problem {
  const { message, details } = (answer.body ?? {}) as { message?: unknown; details?: { path: string; message: string }[] };
  if (typeof message !== "string") return new Problem("internal", `The server answered ${answer.status}. Is it a pet store's address?`);
  return new Problem((codeOf(answer) ?? "internal") as ProblemCode, message, Array.isArray(details) ? { details } : {});
}

/** Half of the delay is fixed and half is random, so that many clients do not come back together. */
function backoff(tries: number, random: number): number {
  return Math.min(backoffMsMax, backoffFirstMs * 2 ** (tries - 1)) * (0.5 + random / 2);
}

function comesAgain(answer: Answer): boolean {
  return [502, 503, 504].includes(answer.status) || (answer.status === 409 && codeOf(answer) === "idempotency_key_in_use");
}

function codeOf(answer: Answer): string | undefined {
  const code = (answer.body as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}

async function attempt(method: string, url: string, key: string, call: Call): Promise<Answer | Error> {
  const headers: Record<string, string> = { accept: "application/json", authorization: `Bearer ${key}`, ...call.headers };
  const init: RequestInit = { method, headers, redirect: "manual", signal: AbortSignal.timeout(timeoutMs) };
  if (call.body !== undefined) {
    headers["content-type"] = "application/json";
    init.body = JSON.stringify(call.body);
  }
  try {
    const response = await fetch(url + searchOf(call.query), init);
    return { status: response.status, headers: response.headers, body: parsed(await textOf(response)) };
  } catch (error) {
    if (error instanceof Problem) throw error;
    return error instanceof Error ? error : new Error(String(error));
  }
}

function searchOf(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  return pairs.length === 0 ? "" : "?" + new URLSearchParams(pairs).toString();
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw new Problem("internal", `The server's answer is over ${answerBytesMax} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function serviceOrigin(text: string): string {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw new Problem("invalid_request", `Not an http or https address: ${text}`);
  if (url.username !== "" || url.password !== "")
    throw new Problem("invalid_request", "The address must not hold a user name or password.");
  return url.origin + url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
}

function unreachable(origin: string, error: Error): Problem {
  const { code } = (error.cause ?? {}) as { code?: string };
  const why = error.name === "TimeoutError" ? `no answer within ${timeoutMs / 1_000} seconds` : (code ?? error.message);
  return new Problem("unavailable", `The service at ${origin} cannot be reached (${why}). Is it running?`);
}

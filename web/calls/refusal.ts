/** Where in the request a value is wrong, as in `body.name`, and why. */
export type Detail = { path: string; message: string };

/** The DNS record that proves a right to a name. */
export type ProofRecord = { type: string; name: string; value: string };

type Told = {
  status: number;
  details?: Detail[];
  challenge?: ProofRecord | undefined;
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  cause?: unknown;
};

/**
 * A call that did not succeed: what the service answered, or `unreachable` and `timed_out` (status 0) where it did not.
 * Its message is for people.
 */
export class Refusal extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: readonly Detail[];
  /** With `domain_taken`: the record that wins the name, where one would. */
  readonly challenge: ProofRecord | undefined;
  /** Finds the log line; undefined where there was no answer. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: string, message: string, { status, details, challenge, requestId, retryAfterSeconds, cause }: Told) {
    super(message, { cause });
    this.name = "Refusal";
    this.code = code;
    this.status = status;
    this.details = details ?? [];
    this.challenge = challenge;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Reads an answer that is no success. Its body is the service's Error, or a proxy's page. */
export async function refusalOf(response: Response, neutral: (status: number) => string): Promise<Refusal> {
  const body: unknown = await response.json().catch(() => undefined);
  const { code, message, details, challenge } = (body ?? {}) as Partial<Record<"code" | "message", unknown>> &
    Pick<Told, "details" | "challenge">;
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new Refusal(typeof code === "string" ? code : "internal", typeof message === "string" ? message : neutral(response.status), {
    status: response.status,
    details: Array.isArray(details) ? details : [],
    challenge,
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : undefined,
  });
}

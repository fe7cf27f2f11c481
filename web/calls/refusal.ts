/** The place of a wrong value in the request, such as `body.name`, and the reason. */
export type Detail = { path: string; message: string };

/** The DNS record that proves the right to a domain. */
export type ProofRecord = { type: string; name: string; value: string };

type RefusalParts = {
  status: number;
  details?: Detail[];
  challenge?: ProofRecord | undefined;
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  cause?: unknown;
};

/**
 * A failed call, with the service's error code, or `unreachable` or `timed_out` (status 0) if there was no response.
 * Its message is written for people.
 */
export class Refusal extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: readonly Detail[];
  /** With `domain_taken`: the record that would prove the right to the domain, if any would. */
  readonly challenge: ProofRecord | undefined;
  /** Identifies the service's log line; undefined if there was no response. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: string, message: string, { status, details, challenge, requestId, retryAfterSeconds, cause }: RefusalParts) {
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

/** A refusal by the page itself, of values that it does not send. Default message: what is wrong at each field. */
export function refusedFields(details: Detail[], message = ""): Refusal {
  return new Refusal("invalid_request", message, { status: 0, details });
}

/** Reads a failed response. Its body may be a proxy's page, not the service's Error: then `fallback` gives the message. */
export async function refusalOf(response: Response, fallback: (status: number) => string): Promise<Refusal> {
  const body: unknown = await response.json().catch(() => undefined);
  const { code, message, details, challenge } = (body ?? {}) as Partial<Record<"code" | "message", unknown>> &
    Pick<RefusalParts, "details" | "challenge">;
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new Refusal(typeof code === "string" ? code : "internal", typeof message === "string" ? message : fallback(response.status), {
    status: response.status,
    details: Array.isArray(details) ? details : [],
    challenge,
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : undefined,
  });
}

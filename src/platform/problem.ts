/** The codes of the error table (decisions, part 6). Rules and stores raise these; only `platform/http` knows their statuses. */
export type ProblemCode =
  | "invalid_request"
  | "unauthorized"
  | "forbidden"
  | "plan_required"
  | "not_found"
  | "method_not_allowed"
  | "not_acceptable"
  | "pet_in_use"
  | "pet_not_available"
  | "insufficient_stock"
  | "order_complete"
  | "category_exists"
  | "category_not_empty"
  | "slug_taken"
  | "domain_taken"
  | "project_not_deployed"
  | "deployment_not_ready"
  | "idempotency_key_in_use"
  | "operation_sunset"
  | "precondition_failed"
  | "payload_too_large"
  | "unsupported_media_type"
  | "unknown_reference"
  | "idempotency_key_reused"
  | "rate_limit_exceeded"
  | "key_banned"
  | "internal"
  | "unavailable";

/** Where in the request a value is wrong, as in `body.name` or `query.limit`, and why. */
export type Detail = { path: string; message: string };

/** A refusal that the caller is told about: its message is public text. Whatever else is thrown becomes `internal`. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly details: Detail[] | undefined;
  readonly headers: Record<string, string> | undefined;

  /** @param more.cause what it came of, which is for the log only */
  constructor(code: ProblemCode, message: string, more: { details?: Detail[]; headers?: Record<string, string>; cause?: unknown } = {}) {
    const { details, headers, cause } = more;
    super(message, cause === undefined ? undefined : { cause });
    this.name = "Problem";
    this.code = code;
    this.details = details;
    this.headers = headers;
  }
}

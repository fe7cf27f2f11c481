import type { Schemas } from "./api.gen.ts";

/** The codes of the service's errors. A newer service may send a code that this version does not list. */
export type ErrorCode = Schemas["Error"]["code"];

/** What the service adds to an error, apart from its code and message. */
type More = Pick<Schemas["Error"], "details" | "challenge"> & {
  /** Undefined if there was no response. */
  status?: number;
  /** The `X-Request-Id` of the response, which leads to its line in the service's log. */
  requestId?: string;
};

/** A refusal by the service, or a call that the client could not make. */
export class PetStoreError extends Error {
  readonly code: ErrorCode;
  readonly details: More["details"];
  readonly challenge: More["challenge"];
  readonly status: number | undefined;
  readonly requestId: string | undefined;

  constructor(code: ErrorCode, message: string, { details, challenge, status, requestId }: More = {}) {
    super(message);
    this.name = "PetStoreError";
    this.code = code;
    this.details = details;
    this.challenge = challenge;
    this.status = status;
    this.requestId = requestId;
  }
}

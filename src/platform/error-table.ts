/** A row of the error table. */
type ErrorRow = {
  /** The HTTP status. */
  status: number;
  /** The name of the exit code of commands (`commands/program.ts`). */
  exit: "failed" | "usage" | "not found" | "refused" | "no access" | "unavailable" | "limited";
  /** What the code means in general, in one sentence. The API reference and its guide to errors show it. */
  meaning: string;
  /** A message, as the description shows it where no request has provoked one. */
  example: string;
};

/** The error table (specification 1.10): each code that a refusal may have, with all that follows from it. */
export const errorTable = {
  invalid_request: {
    status: 400,
    exit: "usage",
    meaning: "A value of the request is missing, malformed or out of bounds.",
    example: "body.name is required.",
  },
  unauthorized: {
    status: 401,
    exit: "no access",
    meaning: "The request has no API key, or one that is not valid.",
    example: "The request needs a valid API key: Authorization: Bearer KEY, or X-API-Key: KEY.",
  },
  forbidden: {
    status: 403,
    exit: "no access",
    meaning: "The key may not do this: it lacks the scope of the operation.",
    example: "The key lacks the scope catalogue:write.",
  },
  confirmation_required: {
    status: 403,
    exit: "refused",
    meaning: "The change needs the member's password once more.",
    example: "Confirm your password first.",
  },
  plan_required: {
    status: 403,
    exit: "refused",
    meaning: "The account's plan does not include this.",
    example: "Custom domains need the plan pro or above.",
  },
  storage_limit_reached: {
    status: 403,
    exit: "refused",
    meaning: "The account stores as much as it may.",
    example:
      "The account stores 25,000 records (pets, those in the bin, categories and open orders) and may store 25,000: there is no room for 1 more. Delete some, or ask for a higher limit.",
  },
  not_found: {
    status: 404,
    exit: "not found",
    meaning: "The resource does not exist in this account.",
    example: "There is no pet 12.",
  },
  method_not_allowed: {
    status: 405,
    exit: "failed",
    meaning: "The path exists, but not with this method.",
    example: "PUT is not a method of this path. It has GET, HEAD, OPTIONS, POST.",
  },
  not_acceptable: {
    status: 406,
    exit: "usage",
    meaning: "`Accept` excludes the type of the answer.",
    example: "The answer is application/json, which Accept excludes.",
  },
  pet_in_use: {
    status: 409,
    exit: "refused",
    meaning: "An order of this pet is not complete yet.",
    example: "Pet 1 has an unfulfilled order: fulfil or delete the order first.",
  },
  pet_not_available: {
    status: 409,
    exit: "refused",
    meaning: "The pet is sold, so it cannot be ordered.",
    example: "Pet 3 is sold.",
  },
  insufficient_stock: {
    status: 409,
    exit: "refused",
    meaning: "Fewer units of the pet are free than the request takes.",
    example: "Pet 1 has 2 free units, which is too few.",
  },
  order_complete: {
    status: 409,
    exit: "refused",
    meaning: "The order is complete: only its ship date may change.",
    example: "Order 1 is complete: only its ship date may change.",
  },
  reservation_ended: {
    status: 409,
    exit: "refused",
    meaning: "The reservation has ended.",
    example: "Reservation 1 is refused: it can no longer be changed.",
  },
  category_exists: {
    status: 409,
    exit: "refused",
    meaning: "Another category has this name.",
    example: 'There is a category named "Dogs" already.',
  },
  category_not_empty: {
    status: 409,
    exit: "refused",
    meaning: "The category still has pets.",
    example: "Category 1 has pets: move or delete them first.",
  },
  slug_taken: {
    status: 409,
    exit: "refused",
    meaning: "Another project has this slug.",
    example: "The slug is taken.",
  },
  domain_taken: {
    status: 409,
    exit: "refused",
    meaning: "The domain is attached to another project.",
    example: "The domain is attached to another project.",
  },
  status_follows_stock: {
    status: 409,
    exit: "refused",
    meaning: "The stock of the pet is tracked, so its status follows from its stock.",
    example:
      "Pet 1 is available, as its stock says: 4 free, 1 held by open orders. It cannot be set to sold. Change the count with PUT /v1/store/inventory/1, or stop tracking with DELETE /v1/store/inventory/1.",
  },
  member_exists: {
    status: 409,
    exit: "refused",
    meaning: "The account already has a member with this email.",
    example: "The account has a member with this email. Reset that member to make a new sign-in link.",
  },
  import_closed: {
    status: 409,
    exit: "refused",
    meaning: "The import takes no more rows, or can no longer be undone.",
    example: "Import 1 is finished: it takes no more rows. Begin another.",
  },
  key_replaced: {
    status: 409,
    exit: "refused",
    meaning: "A rotation has replaced the key already.",
    example: "Key 2 has been replaced already: rotate the key that replaced it.",
  },
  project_not_deployed: {
    status: 409,
    exit: "refused",
    meaning: "The project serves nothing yet.",
    example: "The project has no ready deployment.",
  },
  deployment_not_ready: {
    status: 409,
    exit: "refused",
    meaning: "The deployment is not ready to be served.",
    example: "The deployment is not ready.",
  },
  domain_not_verified: {
    status: 409,
    exit: "refused",
    meaning: "A domain that is to be primary is not verified yet.",
    example: "A name that is to be primary is not verified.",
  },
  idempotency_key_in_use: {
    status: 409,
    exit: "refused",
    meaning: "The first request with this `Idempotency-Key` is still running.",
    example: "The first request with this Idempotency-Key is still running.",
  },
  operation_sunset: {
    status: 410,
    exit: "not found",
    meaning: "The deprecated operation has ended.",
    example: "This operation ended on Fri, 31 Dec 2027 00:00:00 GMT. Its successor: /v1/pets?id=1",
  },
  events_expired: {
    status: 410,
    exit: "not found",
    meaning: "The log no longer keeps the events that were asked for.",
    example: "The oldest event that is kept has position 42: begin again with after=41.",
  },
  precondition_failed: {
    status: 412,
    exit: "refused",
    meaning: "The resource has changed: `If-Match` names another version of it.",
    example: "The resource has changed: its ETag is not one of those in If-Match.",
  },
  session_changed: {
    status: 412,
    exit: "refused",
    meaning: "The browser is signed in as somebody else by now.",
    example: "This browser is signed in as somebody else by now. Load the page again.",
  },
  payload_too_large: {
    status: 413,
    exit: "usage",
    meaning: "The body is larger than the operation allows.",
    example: "The body is larger than 64 KiB.",
  },
  unsupported_media_type: {
    status: 415,
    exit: "usage",
    meaning: "The operation does not accept this content type.",
    example: "The body must be application/json.",
  },
  unknown_reference: {
    status: 422,
    exit: "not found",
    meaning: "The body refers to a resource that the account does not have.",
    example: "body.categoryId: there is no category 12.",
  },
  idempotency_key_reused: {
    status: 422,
    exit: "refused",
    meaning: "This `Idempotency-Key` was used with another body.",
    example: "This Idempotency-Key was used with another body.",
  },
  rate_limit_exceeded: {
    status: 429,
    exit: "limited",
    meaning: "The account or address has made all requests that it may make in this window.",
    example: "The request limit is reached. Try again in 42 seconds.",
  },
  key_banned: {
    status: 429,
    exit: "limited",
    meaning: "The key kept sending requests over the limit and is refused for a while.",
    example: "This key is banned for another 300 seconds, because it kept sending requests after they were refused.",
  },
  headers_too_large: {
    status: 431,
    exit: "usage",
    meaning: "The request line and the headers are too large.",
    example: "The request line and headers exceed 16 KiB or 256 headers. Shorten the query, or send fewer or shorter headers.",
  },
  internal: {
    status: 500,
    exit: "failed",
    meaning: "The service failed. Its operator finds the cause by the `X-Request-Id`.",
    example: "Something went wrong here. The X-Request-Id of this answer finds it in the log.",
  },
  unavailable: {
    status: 503,
    exit: "unavailable",
    meaning: "The service cannot take the request now. Send it again after `Retry-After` seconds.",
    example: "The store cannot take this now. Try again.",
  },
} as const satisfies Record<string, ErrorRow>;

export type ProblemCode = keyof typeof errorTable;
export const problemCodes = Object.keys(errorTable) as ProblemCode[];

/** The HTTP status of a code. */
export function statusOf(code: ProblemCode): number {
  return errorTable[code].status;
}

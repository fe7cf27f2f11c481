/** Messages for when the service refuses something or fails. */
export const refusalTexts = {
  /**
   * The refusals that people can cause and correct, by code. Null: the page shows the service's own message, which is plain and has details
   * that the page does not know. Any other code is a fault of the page, the service or the network.
   */
  expected: {
    invalid_request: null,
    unauthorized: null,
    forbidden: "Your role does not allow this. Ask an owner of the shop.",
    confirmation_required: null,
    plan_required: "Your plan does not include this. It comes with the Pro plan and above.",
    storage_limit_reached:
      "Your plan has no room for this. Delete something first, or ask for a higher plan. The Usage page shows what is stored.",
    not_found: "This does not exist. It may have been deleted in the meantime.",
    pet_in_use: "This animal has open orders. Fulfil or cancel its open orders first; then it can be deleted.",
    pet_not_available: "A sold animal cannot be ordered. If it is still there, change its status or its stock.",
    insufficient_stock: "There are too few free units. Order fewer, or add stock first.",
    reservation_ended: "This reservation has ended, so it can no longer be changed.",
    order_complete: "A fulfilled order is final; only its ship date may change.",
    category_exists: "There is a category with this name already. Upper and lower case count as the same: choose another name.",
    category_not_empty: "This category still has animals. Move them to another category or delete them first.",
    status_follows_stock: "The units of this animal are counted, so its status follows the count. Change the count, or stop counting.",
    session_changed: null,
    slug_taken: "This address is taken. Choose another one.",
    domain_taken: null,
    domain_not_verified: null,
    project_not_deployed: null,
    deployment_not_ready: "This version is not ready, so visitors cannot see it yet.",
    import_closed: "This import has ended, so nothing was changed. Begin a new one.",
    key_replaced: "This key has been replaced already. Replace its successor.",
    member_exists: "Somebody with this email can sign in already. Choose “New sign-in link” beside them if they need one.",
    precondition_failed: "Somebody else changed it in the meantime. Reload it, then make your change again.",
    payload_too_large: "That is too large. Choose a smaller file, or shorten the text.",
    unsupported_media_type: "This kind of file is not accepted. Choose a picture in JPEG, PNG, WebP or AVIF.",
    unknown_reference: "What you chose has been deleted in the meantime. Choose another one.",
    rate_limit_exceeded: "Too many requests in a short time.",
  } as Partial<Record<string, string | null>>,

  faults: {
    service: "Something went wrong in the service. Try again in a moment.",
    unavailable: "The service cannot do this right now. Try again in a moment.",
    page: "The service did not understand this page. Reload the page, then try again.",
  },

  /** The service's messages about fields, as patterns, with plainer words for them. */
  reasons: [
    [/^must be (?:a decimal )?integer\b.*/, "must be a whole number"],
    [/^must be within int\d+$/, "is too large"],
    [/^must be number$/, "must be a number"],
    [/^must be a date and time\b.*/, "must be a date with a time"],
    [/^must match .*/, "has characters that are not allowed here"],
    [/^must (?:be well-formed text|not hold a NUL character)$/, "has characters that cannot be saved"],
    [/^must have at least (1 character|1 item)$/, "must not be empty"],
    [/^must not exceed \d+ .*/, "is too large"],
  ] as [RegExp, string][],
};

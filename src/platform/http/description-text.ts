/** The words of the description that belong to no operation. */
export const introduction = `A shop's back end: animals and their categories, orders, and stock that is never sold twice.

**Keys.** Send your key as \`Authorization: Bearer KEY\` or \`X-API-Key: KEY\`. A key has scopes, and sees its own account only.

**Lists** are JSON arrays, ordered by \`id\` unless sorted. The next page is in the \`Link\` header.

**Changes.** Every write answers with the resource as it now stands, so what you read can be written back: a body may repeat the resource's own \`id\`. An optional field that is \`null\` counts as left out; in a PATCH \`null\` removes the value. A resource's \`ETag\` stays the same until the resource changes: send it as \`If-Match\` to change only what you have seen. A POST with an \`Idempotency-Key\` can be sent again without being done twice.

**Limits.** Each answer shows in \`X-RateLimit-*\` how many requests are left. Over the limit the answer is 429 with \`Retry-After\`: wait that long. A key that keeps sending is banned for a while. Storage is limited too: an addition beyond the limit is a 403 \`storage_limit_reached\`, and \`GET /account\` shows how much is left.

**Errors** are objects with \`code\`, \`message\` and \`status\`. Codes are stable; messages may change. The \`details\` of a 400 or 422 say where the request is wrong. Each answer has an \`X-Request-Id\`: your own if you send one. A \`traceparent\` (W3C Trace Context) is kept in the service's log.`;

export type Tag = { name: string; description: string };

/** Tags with operations, and the two that only group others (specification, part 1). */
export const tags: Tag[] = [
  { name: "Pets", description: "Navigation group: the catalogue. It carries no operations of its own." },
  { name: "Store", description: "Navigation group: selling. It carries no operations of its own." },
  { name: "Animals", description: "Animals with a name, a category and a sales status." },
  { name: "Categories", description: "Groupings of animals, for example a species." },
  { name: "Orders", description: "Purchases of an animal, with quantity, ship date and completion flag." },
  { name: "Inventory", description: "Stock entries per animal, with a quantity and a status." },
  { name: "Account", description: "The plan, its limits, and what is used of them." },
  { name: "Projects", description: "Published sites: each at an address of the platform, with the deployments that it is made of." },
  { name: "Domains", description: "A project's own host names: the DNS record to create, its verification, the certificate." },
];

export const tagGroups = [
  { name: "Pets", tags: ["Animals", "Categories"] },
  { name: "Store", tags: ["Orders", "Inventory"] },
  { name: "Platform", tags: ["Account", "Projects", "Domains"] },
];

/** What a stability marker promises. */
export const stabilities = {
  beta: "**Beta**: ready to use; details may still change, with notice.",
  experimental: "**Experimental**: may change or go away without notice.",
};

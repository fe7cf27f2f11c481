/** The introduction of the API description. */
export const introduction = `A shop's back end: pets and their categories, orders, and stock that is never sold twice.

**Keys.** Send your key as \`Authorization: Bearer KEY\` or \`X-API-Key: KEY\`. A key has scopes and gives access to its own account only.

**Lists** are JSON arrays, ordered by \`id\` unless sorted. The next page is in the \`Link\` header.

**Changes.** Every write returns the resource as it is afterwards. You can send back what you read: a body may repeat the resource's own \`id\`. An optional field that is \`null\` counts as absent; in a PATCH \`null\` removes the value. A resource's \`ETag\` stays the same until the resource changes: send it as \`If-Match\`, and the change happens only if nobody else changed the resource. You can repeat a POST with an \`Idempotency-Key\`: the service does it once.

**Limits.** Each answer, refusals included, shows in \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` how many requests are left. Over the limit the answer is 429 with \`Retry-After\`: wait that long. A key that goes on sending requests is banned for some minutes. Storage is limited too: an addition beyond the limit is a 403 \`storage_limit_reached\`, and \`GET /account\` shows how much is left.

**Errors** are objects with \`code\`, \`message\` and \`status\`. Codes are stable; messages may change. The \`details\` of a 400 or 422 say where the request is wrong. Each answer has an \`X-Request-Id\`: your own if you send one. The service logs a \`traceparent\` (W3C Trace Context).`;

export type Tag = { name: string; description: string };

/** Tags with operations, and the two that only group others (specification 1.13). */
export const tags: Tag[] = [
  { name: "Pets", description: "Navigation group: the catalogue. It carries no operations of its own." },
  { name: "Store", description: "Navigation group: selling. It carries no operations of its own." },
  { name: "Animals", description: "Pets with a name, a category and a sales status." },
  { name: "Categories", description: "Groupings of pets, for example a species." },
  { name: "Orders", description: "Purchases of a pet, with quantity, ship date and completion flag." },
  { name: "Inventory", description: "Stock entries per pet, with a quantity and a status." },
  { name: "Events", description: "What happened in the shop: an ordered log without gaps that proves that it is complete." },
  {
    name: "Imports",
    description: "Animals from files and other systems: found again by the source's own identifiers, and taken back as a whole.",
  },
  { name: "Account", description: "The plan, its limits, and what is used of them." },
  {
    name: "Keys",
    description: "The account's API keys, for programs that make keys for others. Needs scopes that only members and operators give.",
  },
  { name: "Projects", description: "Published sites: each at an address of the platform, with the deployments that it is made of." },
  { name: "Domains", description: "A project's own host names: the DNS record to create, its verification, the certificate." },
  { name: "Webhooks", description: "Endpoints that get the account's events, signed and tried again, and what was sent to them." },
];

export const tagGroups = [
  { name: "Pets", tags: ["Animals", "Categories"] },
  { name: "Store", tags: ["Orders", "Inventory"] },
  { name: "Integration", tags: ["Imports", "Events", "Webhooks"] },
  { name: "Platform", tags: ["Account", "Keys", "Projects", "Domains"] },
];

/** What a stability marker promises. */
export const stabilities = {
  beta: "**Beta**: details may still change, with notice.",
  experimental: "**Experimental**: may change or go away without notice.",
};

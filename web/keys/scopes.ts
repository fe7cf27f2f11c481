/** The scopes of keys, by area (specification 3.4). */
export const scopeAreas = [
  { area: "catalogue", scopes: ["catalogue:read", "catalogue:write"] },
  { area: "orders", scopes: ["orders:read", "orders:write"] },
  { area: "inventory", scopes: ["inventory:read", "inventory:write"] },
  { area: "publishing", scopes: ["publishing:read", "publishing:write"] },
  { area: "integration", scopes: ["events:read", "webhooks:read", "webhooks:write"] },
  { area: "account", scopes: ["account:read"] },
  { area: "contacts", scopes: ["contacts:read", "contacts:write"] },
  { area: "keys", scopes: ["keys:read", "keys:write"] },
] as const;
/** The areas that a new key has only if the owner chooses them. */
const chosenAreas = ["contacts", "keys"] as const;

/** The scopes that the service gives a secret key for which none are named: all but those of customers' contacts and those to manage keys. */
export const defaultScopes: readonly string[] = scopeAreas.flatMap(({ area, scopes }) =>
  chosenAreas.some((chosen) => chosen === area) ? [] : scopes,
);
/** The scopes that the form for a secret key begins with: a key that only reads does no harm. */
export const readingScopes: readonly string[] = defaultScopes.filter((scope) => scope.endsWith(":read"));
/** The scopes of a publishable key. */
export const publishableScopes: readonly string[] = ["catalogue:read", "inventory:read"];

/** The longest overlap of a rotated key and its successor. */
export const overlapHoursMax = 720;

/** Whether a key has every scope that a new key of its kind has. */
export function hasDefaultScopes(scopes: readonly string[], publishable: boolean): boolean {
  return (publishable ? publishableScopes : defaultScopes).every((scope) => scopes.includes(scope));
}

/** The areas that a key has beside the scopes of a new one. */
export function areasBeside(scopes: readonly string[]): (typeof chosenAreas)[number][] {
  return chosenAreas.filter((area) => scopes.some((scope) => scope.startsWith(`${area}:`)));
}

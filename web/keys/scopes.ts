/** The scopes of keys, by area (specification 3.4). */
export const scopeAreas = [
  { area: "catalogue", scopes: ["catalogue:read", "catalogue:write"] },
  { area: "orders", scopes: ["orders:read", "orders:write"] },
  { area: "inventory", scopes: ["inventory:read", "inventory:write"] },
  { area: "publishing", scopes: ["publishing:read", "publishing:write"] },
  { area: "integration", scopes: ["events:read", "webhooks:read", "webhooks:write"] },
  { area: "account", scopes: ["account:read"] },
  { area: "keys", scopes: ["keys:read", "keys:write"] },
] as const;

/** The scopes of a new secret key, unless the owner chooses others: all but those to manage keys. */
export const defaultScopes: readonly string[] = scopeAreas.flatMap(({ area, scopes }) => (area === "keys" ? [] : scopes));
/** The scopes of a publishable key. */
export const publishableScopes: readonly string[] = ["catalogue:read", "inventory:read"];

/** The longest overlap of a rotated key and its successor. */
export const overlapHoursMax = 720;

/** Whether a key has every scope that a new key of its kind has. */
export function hasDefaultScopes(scopes: readonly string[], publishable: boolean): boolean {
  return (publishable ? publishableScopes : defaultScopes).every((scope) => scopes.includes(scope));
}

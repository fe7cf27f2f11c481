/** The scopes of keys, by area (specification 3.4). */
export const scopeAreas = [
  { area: "catalogue", scopes: ["catalogue:read", "catalogue:write"] },
  { area: "orders", scopes: ["orders:read", "orders:write"] },
  { area: "inventory", scopes: ["inventory:read", "inventory:write"] },
  { area: "publishing", scopes: ["publishing:read", "publishing:write"] },
  { area: "integration", scopes: ["events:read", "webhooks:read", "webhooks:write"] },
  { area: "account", scopes: ["account:read"] },
] as const;

export const allScopes: readonly string[] = scopeAreas.flatMap(({ scopes }) => scopes);
/** The scopes of a publishable key. */
export const publishableScopes: readonly string[] = ["catalogue:read", "inventory:read"];

/** The longest overlap of a rotated key and its successor. */
export const overlapHoursMax = 720;

/** Whether a key has every scope that its kind may have. */
export function hasAllScopes(scopes: readonly string[], publishable: boolean): boolean {
  return (publishable ? publishableScopes : allScopes).every((scope) => scopes.includes(scope));
}

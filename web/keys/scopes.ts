/** What keys may be allowed, by area (specification 3.4). */
export const scopeAreas = [
  { area: "catalogue", scopes: ["catalogue:read", "catalogue:write"] },
  { area: "orders", scopes: ["orders:read", "orders:write"] },
  { area: "inventory", scopes: ["inventory:read", "inventory:write"] },
  { area: "publishing", scopes: ["publishing:read", "publishing:write"] },
  { area: "account", scopes: ["account:read"] },
] as const;

export const allScopes: readonly string[] = scopeAreas.flatMap(({ scopes }) => scopes);
/** All that a key in the source of a web page may do. */
export const publishableScopes: readonly string[] = ["catalogue:read", "inventory:read"];

/** How long a rotated key may go on beside the new one. */
export const overlapHoursMax = 720;

/** Whether a key may do all that its kind may. */
export function hasAllScopes(scopes: readonly string[], publishable: boolean): boolean {
  return (publishable ? publishableScopes : allScopes).every((scope) => scopes.includes(scope));
}

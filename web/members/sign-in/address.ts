/** The dashboard page to open after signing in; undefined for any other address, because anybody can craft such a link. */
export function destinationOf(to: unknown, origin: string): string | undefined {
  const url = typeof to === "string" ? URL.parse(to, origin) : null;
  if (url === null || url.origin !== origin || !/^\/dashboard(\/(?!v1(\/|$))|$)/.test(url.pathname)) return undefined;
  return url.pathname + url.search + url.hash;
}

/**
 * Removes the token of a sign-in link from the address, so that neither the history nor a bookmark keeps it. Returns the token, or
 * undefined if the address has none.
 */
export function takeLinkToken(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  return token;
}

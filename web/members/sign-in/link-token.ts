/**
 * Takes the token of a sign-in link out of the address, so that neither the history nor a bookmark keeps it. It is held in memory until
 * the tab is closed or another one is taken.
 */
export function takeLinkToken(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  return token;
}

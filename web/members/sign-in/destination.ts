/** The dashboard's page that a person wanted before signing in; undefined for any other address, since anybody can write such a link. */
export function destinationOf(to: unknown, origin: string): string | undefined {
  const url = typeof to === "string" ? URL.parse(to, origin) : null;
  if (url === null || url.origin !== origin || !/^\/dashboard(\/(?!v1(\/|$))|$)/.test(url.pathname)) return undefined;
  return url.pathname + url.search + url.hash;
}

/** The dashboard page to open after signing in; undefined for any other address, because anybody can craft such a link. */
export function destinationOf(to: unknown, origin: string): string | undefined {
  const url = typeof to === "string" ? URL.parse(to, origin) : null;
  if (url === null || url.origin !== origin || !/^\/dashboard(\/(?!v1(\/|$))|$)/.test(url.pathname)) return undefined;
  return url.pathname + url.search + url.hash;
}

/** Where the API begins: the major version is the path (specification 1.1). */
export const prefix = "/v1";

/** Where signed-in people call the same operations, and those that are theirs alone. */
export const dashboardPrefix = "/dashboard/v1";

/** The address of a path of the description, from the root of the origin; a valid relative reference (RFC 3986, 4.2). */
export function addressOf(path: string): string {
  return prefix + path;
}

/** The same, of an address of the API, where its operations are served below another prefix. */
export function relocated(address: string, to: string): string {
  return address.startsWith(`${prefix}/`) ? to + address.slice(prefix.length) : address;
}

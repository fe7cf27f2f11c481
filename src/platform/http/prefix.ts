/** Where the API begins: the major version is the path (decisions, part 7). */
export const prefix = "/v1";

/** The address of a path of the description, from the root of the origin; a valid relative reference (RFC 3986, 4.2). */
export function addressOf(path: string): string {
  return prefix + path;
}

// A file of its own, because the page of a running import needs nothing else of a mapping.

/** Names as a list for people; each is in quotes if one has a comma. */
export function listed(names: readonly string[]): string {
  return names.some((name) => name.includes(",")) ? `“${names.join("”, “")}”` : names.join(", ");
}

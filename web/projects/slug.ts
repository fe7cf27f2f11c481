const slugCharactersMax = 63;

/** Suggests a slug for a name: a DNS label of lower-case letters, digits and hyphens; empty if the name has none. */
export function slugFrom(name: string): string {
  return name
    .normalize("NFKD")
    .replaceAll(/\p{M}|['’]/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, slugCharactersMax)
    .replaceAll(/^-+|-+$/g, "");
}

const slugCharactersMax = 63;

/** A slug that a name suggests: one DNS label of lower-case letters, digits and hyphens; empty where nothing of the name is left. */
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

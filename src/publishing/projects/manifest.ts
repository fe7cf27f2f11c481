import type { Encodings } from "./content.ts";

type ManifestFile = { hash: string; size: number; type: string; encodings: Encodings };

/** The files that a deployment serves, by path without a leading slash. */
export type Manifest = Map<string, ManifestFile>;

/** A manifest as text for a database column. A list, not an object, because a file may be called `__proto__`. */
export function manifestToText(manifest: Manifest): string {
  return JSON.stringify([...manifest]);
}

export function manifestFromText(text: string): Manifest {
  return new Map(JSON.parse(text) as [string, ManifestFile][]);
}

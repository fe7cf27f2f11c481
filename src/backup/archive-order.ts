import { ArchiveError, countersName, partOf, secretsName } from "./manifest.ts";

/** Parts in an archive: a schema has some dozen tables. */
const partsMax = 1_000;
/** Uploads that wait to be unpacked. */
const uploadsMax = 100_000;

/** Checks the names of an archive's entries as they come. `parts` are the parts so far, in their order. */
export type Order = { parts: string[]; /** @throws ArchiveError */ add(name: string): void };

/**
 * Checks that each name comes once, and in the order in which a backup is written: the secrets key, tables, counters, files. Files come in the
 * order of their hashes, so that a check of any number of them needs little memory.
 */
export function openOrder(): Order {
  const parts: string[] = [];
  let last = "";
  const seen = new Set<string>();
  return {
    parts,
    add(name) {
      const part = partOf(name);
      const isNew = part !== parts.at(-1);
      if (isNew) {
        if (parts.includes(part) || rankOf(part) < rankOf(parts.at(-1))) throw misplaced(name);
        if (parts.push(part) > partsMax) throw new ArchiveError(`is damaged: it has more than ${partsMax} parts`);
        last = "";
        seen.clear();
      } else if (part === secretsName || part === countersName) throw misplaced(name);
      if (part.startsWith("database/")) {
        if (numberOf(name) !== (isNew ? 1 : numberOf(last) + 1)) throw misplaced(name);
      } else if (part === "content") {
        if (hashOf(name) < hashOf(last)) throw misplaced(name);
        if (hashOf(name) !== hashOf(last)) seen.clear();
      }
      last = name;
      if (part === "content" || part === "uploads") requireOnce(seen, name);
    },
  };
}

function requireOnce(seen: Set<string>, name: string): void {
  if (seen.has(name)) throw misplaced(name);
  if (seen.add(name).size > uploadsMax) throw new ArchiveError(`is damaged: it has more than ${uploadsMax} uploads`);
}

const ranks = [secretsName, "database", countersName];

function rankOf(part: string | undefined): number {
  if (part === undefined) return -1;
  const rank = ranks.indexOf(part.startsWith("database/") ? "database" : part);
  return rank === -1 ? ranks.length : rank;
}

function numberOf(name: string): number {
  return Number.parseInt(name.slice(name.lastIndexOf("/") + 1));
}

function hashOf(name: string): string {
  return /^content\/..\/([0-9a-f]{64})/.exec(name)?.[1] ?? "";
}

function misplaced(name: string): ArchiveError {
  return new ArchiveError(`is damaged: ${name} comes twice or in the wrong place`);
}

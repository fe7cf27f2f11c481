import type { Manifest } from "../backup/manifest.ts";
import { countOf, type Outcome } from "./command.ts";

type Details = { file: string; bytes: number; encrypted: boolean; ms: number };

/** Describes a backup, and warns of a key in clear or of missing files. The exit code is 1 if files are missing. */
export function reportOf(manifest: Manifest, { file, bytes, encrypted, ms }: Details): Outcome {
  const { missing, secrets } = manifest;
  const rows = rowsOf(manifest);
  const files = manifest.parts.find(({ name }) => name === "content")?.files ?? 0;
  const size = bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
  const lines = [
    `Backed up ${countOf(rows, "row")} and ${countOf(files, "published file")} (${size}) in ${(ms / 1_000).toFixed(1)} s, and checked the file.`,
  ];
  if (secrets.isIncluded && !encrypted)
    lines.push(
      "The file holds the secrets key in clear: anyone who can read the file can decrypt every secret. --passphrase-file encrypts it.",
    );
  if (!secrets.isIncluded && secrets.keys.length > 0)
    lines.push("The file does not hold the secrets key: a restore needs it in SECRETS_KEY.");
  if (missing > 0)
    lines.push(`The service itself lacks ${countOf(missing, "published file")}, and so does the backup: \`petstore verify\` names them.`);
  const madeAt = new Date(manifest.madeAt).toISOString();
  const json = { file, bytes, ms, madeAt, rows, files, missing, encrypted, secrets: secrets.isIncluded };
  return { json, text: lines.join("\n"), exitCode: missing > 0 ? 1 : 0 };
}

/** The rows of all tables of a backup. */
export function rowsOf({ parts }: Manifest): number {
  return parts.reduce((sum, part) => sum + (part.rows ?? 0), 0);
}

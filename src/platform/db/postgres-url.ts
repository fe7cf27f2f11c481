import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

const sslModes = new Set(["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"]);
const readCertificate = (path: string): unknown => new X509Certificate(readFileSync(path, "utf8"));

/** The TLS parameters of a PostgreSQL URL. Each check throws or returns false if the value cannot be used. */
const sslParameters: Record<string, (value: string) => unknown> = {
  ssl: () => true,
  sslnegotiation: () => true,
  sslmode: (mode) => sslModes.has(mode),
  sslrootcert: readCertificate,
  sslcert: readCertificate,
  sslkey: (path) => createPrivateKey(readFileSync(path, "utf8")),
};

/**
 * Parses the URL of a PostgreSQL server; returns undefined for any other text. Refuses unknown TLS parameters, which the driver would ignore.
 *
 * @throws if a file that it names cannot be used
 */
export function postgresUrl(text: string): string | undefined {
  if (!/^postgres(ql)?:\/\/[^/]/i.test(text)) return undefined;
  for (const [name, value] of new URL(text).searchParams) {
    if (name.startsWith("ssl") && !sslParameters[name]?.(value)) return undefined;
  }
  return text;
}

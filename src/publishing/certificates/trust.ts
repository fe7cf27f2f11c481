import { X509Certificate } from "node:crypto";
import { getCACertificates } from "node:tls";

/** The roots by their subjects; several may share one. */
export type Roots = ReadonlyMap<string, readonly X509Certificate[]>;

let systemRoots: Roots | undefined;

/** The roots that Node, the system and `NODE_EXTRA_CA_CERTS` trust. Read once. */
export function rootsOfSystem(): Roots {
  return (systemRoots ??= rootsOf((["default", "system"] as const).flatMap((kind) => getCACertificates(kind))));
}

export function rootsOf(pems: readonly string[]): Roots {
  return Map.groupBy(
    [...new Set(pems)].map((pem) => new X509Certificate(pem)),
    ({ subject }) => subject,
  );
}

/**
 * Whether a chain (PEM, the leaf first) leads to one of the roots: each certificate is signed by the next one, and the last by a root. Does not look at
 * times: a chain is as trusted at its end as at its beginning.
 */
export function isTrustedChain(chain: string, roots: Roots): boolean {
  const certificates = (chain.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  );
  for (const [index, certificate] of certificates.entries()) {
    const issuers = roots.get(certificate.issuer) ?? [];
    if (issuers.some((root) => certificate.verify(root.publicKey))) return true;
    const next = certificates[index + 1];
    if (next === undefined || !certificate.verify(next.publicKey)) return false;
  }
  return false;
}

/**
 * What the edge is handed. It reads these at every request and handshake, so all of them answer from memory; none may wait for DNS, an
 * authority or another node. Host names are lower case, punycode, without a final dot.
 */
export type Encoding = "br" | "gzip";
export type PublishedFile = { hash: string; size: number; type: string; encodings: Partial<Record<Encoding, number>> };

/** The files of a deployment by path without a leading slash, NFC. It never changes; another deployment is another map. */
export type Manifest = ReadonlyMap<string, PublishedFile>;

export type Site =
  /** `canonical`: the site's preferred name for search engines, if it is another one. */
  | { status: "live"; manifest: Manifest; canonical?: string }
  /** `to` is a name that serves the site and does not redirect. */
  | { status: "redirect"; to: string; code: 301 | 302 | 307 | 308 }
  /** Held by its owner, but not served: its plan has dropped. */
  | { status: "suspended" }
  /** The owner of the name, and what it serves, are unknown now. */
  | { status: "unknown" };

export type Sites = { get(host: string): Site | undefined };

export type KeyPair = { cert: string; key: string };

export type Certificates = {
  /** Identifies the certificate that serves this name now; another id after a renewal. Names under one wildcard share its id. */
  current(host: string): string | undefined;
  /** The chain and key behind an id that a name has, as PEM. Asked once at a time for each id, and again after it fell out of the cache. */
  load(id: string, host: string): Promise<KeyPair | undefined>;
};

export type Challenges = {
  /** The key authorization to answer an http-01 challenge with (RFC 8555, section 8.3). */
  http(host: string, token: string): string | undefined;
  /** The certificate to answer a tls-alpn-01 challenge with (RFC 8737). */
  tlsAlpn(host: string): KeyPair | undefined;
};

export type Log = { warn(fields: object, message: string): void; error(fields: object, message: string): void };

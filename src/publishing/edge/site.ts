import type { Storefront } from "../storefront/storefront.ts";

/**
 * The types of the edge's inputs. The edge reads them at every request and handshake, so they must not wait for DNS, a certificate authority
 * or another node. Host names are in lower case and punycode, without a final dot.
 */
export type Encoding = "br" | "gzip";
export type PublishedFile = { hash: string; size: number; type: string; encodings: Partial<Record<Encoding, number>> };

/** The files of a deployment by path, in NFC and without a leading slash. A manifest never changes: each deployment has a new one. */
export type Manifest = ReadonlyMap<string, PublishedFile>;

export type Site =
  /** `canonical`: the name that search engines should list instead. `accountId`: whose photos it serves. `shop`: its built-in storefront. */
  | { status: "live"; manifest: Manifest; canonical?: string; accountId?: number; projectId?: number; shop?: Storefront }
  /** `to` is a name that serves the site and does not redirect. */
  | { status: "redirect"; to: string; code: 301 | 302 | 307 | 308 }
  /** One deployment of a project, at its own address. `find` returns undefined if the project has no such deployment. */
  | { status: "deployment"; projectId: number; find: () => Promise<LiveSite | undefined> }
  /** The host of the API and the dashboard, whose server answers its HTTPS connections. */
  | { status: "own" }
  /** Attached to a project, but not served: the account's plan no longer includes custom domains. */
  | { status: "suspended" }
  /** At the moment this node cannot tell which project has the name, or what it serves. */
  | { status: "unknown" };

export type LiveSite = Extract<Site, { status: "live" }>;

/** The site as which a host takes turns: all names and deployments of a project are one, and so are all hosts that serve nothing. */
export function siteOf(host: string, site: Site | undefined): string {
  if (site?.status === "redirect") return host;
  if (site?.status !== "live" && site?.status !== "deployment") return "nothing";
  return site.projectId === undefined ? host : `${site.projectId}`;
}

export type KeyPair = { cert: string; key: string };

export type Certificates = {
  /** Returns the id of the certificate that serves this name now. A renewed certificate has a new id; names under one wildcard share an id. */
  current(host: string): string | undefined;
  /** Loads the chain and key of a name's certificate as PEM. The edge makes one call at a time for each id, and caches the result. */
  load(id: string, host: string): Promise<KeyPair | undefined>;
};

type Challenges = {
  /** Returns the key authorization that answers an http-01 challenge (RFC 8555, section 8.3). */
  http(host: string, token: string): string | undefined;
  /** Returns the certificate that answers a tls-alpn-01 challenge (RFC 8737). */
  tlsAlpn(host: string): KeyPair | undefined;
};

/** What the edge looks up by the name of a host. */
export type EdgeHosts = {
  sites: { get(host: string): Site | undefined };
  certificates: Certificates;
  challenges: Challenges;
  /** Returns the max-age of a host's Strict-Transport-Security header; undefined to send none. */
  hstsSeconds: (host: string) => number | undefined;
};

export type Log = { warn(fields: object, message: string): void; error(fields: object, message: string): void };

import type { Server } from "node:http";
import type { ConnectionLimits } from "../platform/connections.ts";
import type { AddressList } from "../platform/parse.ts";
import { Problem } from "../platform/problem.ts";
import type { Origins } from "../publishing/domains/domain-operations.ts";
import type { EdgeContent } from "../publishing/edge/answer.ts";
import type { OpenContent } from "../publishing/edge/bodies.ts";
import { type Edge, openEdge } from "../publishing/edge/edge.ts";
import { deploymentHost } from "../publishing/edge/requests.ts";
import type { KeyPair } from "../publishing/edge/site.ts";
import type { OnVisit } from "../publishing/edge/visits.ts";
import type { Hosts } from "../publishing/hosts/host-map.ts";
import { photosHost } from "../publishing/photos/photos.ts";
import type { AppContext } from "./context.ts";
import type { Settings } from "./settings.ts";

/** What the edge alone is opened with. */
export type EdgeSide = {
  trustedProxies: AddressList;
  /** Bounds the connections to the edge. */
  connections: ConnectionLimits;
  /** Called after each answer. */
  onVisit: OnVisit;
  /** Called with the account whose storefront has shown a page to a person. */
  onPageView: (accountId: number) => void;
};

/** The host of PUBLIC_URL if this service certifies it, else null. */
export function ownHostOf({ publicUrl, publicUrlCertificate }: Pick<Settings, "publicUrl" | "publicUrlCertificate">): string | null {
  return publicUrlCertificate ? new URL(publicUrl).hostname.replace(/\.$/, "") : null;
}

/** The edge, undefined before it opens, and whether the names below the platform domain have a certificate. */
type PlatformEdge = { edge: Edge | undefined; hasCertificate: boolean };

export async function openServing(
  { settings, trustedProxies, clock, log, bounds, connections, onVisit }: AppContext & EdgeSide,
  shown: EdgeContent,
  hosts: Hosts,
  openForm: OpenContent,
  apiServer: Server,
) {
  const { host, edgeHttpPort, edgeHttpsPort, edgePublicHttpPort, edgePublicHttpsPort } = settings;
  const ownHost = ownHostOf(settings);
  return openEdge({
    http: { host, port: edgeHttpPort, ...(edgePublicHttpPort !== 0 && { publicPort: edgePublicHttpPort }) },
    https: { host, port: edgeHttpsPort, ...(edgePublicHttpsPort !== 0 && { publicPort: edgePublicHttpsPort }) },
    hosts,
    platformDomain: settings.platformDomain,
    own: ownHost === null ? undefined : { host: ownHost, server: apiServer },
    openContent: openForm,
    shown,
    trustedProxies,
    bounds,
    limits: connections,
    log,
    onVisit,
    clock,
  });
}

/** The origins of published projects. Those of the platform are HTTPS if the operator has set a certificate for it. */
export function originsOf(
  { platformDomain, edgePublicHttpPort, edgePublicHttpsPort }: Settings,
  { edge, hasCertificate }: PlatformEdge,
): Origins & { ofPhotos: () => string; ofDeployment: (id: number, slug: string) => string | undefined } {
  const { http, https } = edge?.addresses ?? notStarted();
  const originOf = (host: string, isSecure: boolean): string => {
    const port = isSecure ? edgePublicHttpsPort || https?.port : edgePublicHttpPort || http.port;
    const suffix = port === (isSecure ? 443 : 80) ? "" : `:${port}`;
    return `${isSecure ? "https" : "http"}://${host}${suffix}`;
  };
  const ofSlug = (slug: string): string => originOf(`${slug}.${platformDomain}`, hasCertificate);
  const ofDeployment = (id: number, slug: string): string | undefined => {
    const host = deploymentHost(id, slug, platformDomain);
    return host && originOf(host, hasCertificate);
  };
  return { ofSlug, ofDeployment, ofPhotos: () => ofSlug(photosHost), ofDomain: originOf };
}

/** The operator's wildcard certificate; null if there is none. */
export function platformCertificateOf({ edgeCert, edgeKey }: Pick<Settings, "edgeCert" | "edgeKey">): KeyPair | null {
  return edgeCert === "" ? null : { cert: edgeCert, key: edgeKey };
}

/** @throws Problem `unavailable` */
export function notStarted(): never {
  throw new Problem("unavailable", "The service is starting.", { headers: { "retry-after": "1" } });
}

import { createPrivateKey } from "node:crypto";
import { attempt, items, serverUrl } from "../platform/parse.ts";
import { parseSecretsKeys } from "../platform/secrets.ts";
import { parseBudget } from "../publishing/certificates/budget.ts";
import { isPlatformDomain } from "../publishing/dns/hostnames.ts";
import { parseNameserver } from "../publishing/dns/dns-query.ts";
import { certificateFile, matching, onOff, pemFile, port, reloaded, secret, setting } from "./setting.ts";

/** The settings of published projects: the edge, domains, DNS and certificates. */
export const publishingSettings = {
  platformDomain: setting({
    name: "PLATFORM_DOMAIN",
    fallback: "petstore.localhost",
    parse: (text) => (isPlatformDomain(text) ? text : undefined),
    allowed: "a host name in lower case with at least two parts, such as sites.example.com",
    meaning: "Published projects are at names below it, and customers' CNAME records lead to it",
  }),
  edgeHttpPort: port("EDGE_HTTP_PORT", "8081", "Port of published projects over HTTP"),
  edgeHttpsPort: port("EDGE_HTTPS_PORT", "8443", "Port of published projects over HTTPS"),
  edgePublicHttpPort: port(
    "EDGE_PUBLIC_HTTP_PORT",
    (env) => env["EDGE_HTTP_PORT"] || "8081",
    "EDGE_HTTP_PORT as people see it, where a proxy or firewall maps it",
  ),
  edgePublicHttpsPort: port(
    "EDGE_PUBLIC_HTTPS_PORT",
    (env) => env["EDGE_HTTPS_PORT"] || "8443",
    "EDGE_HTTPS_PORT as people see it, where a proxy or firewall maps it",
  ),
  edgeCert: reloaded(certificateFile("EDGE_CERT_FILE", "PEM file of the wildcard certificate for the names below PLATFORM_DOMAIN")),
  edgeKey: reloaded(pemFile("EDGE_KEY_FILE", "private key", createPrivateKey, "PEM file of the private key of EDGE_CERT_FILE")),
  publicUrlCertificate: onOff(
    "PUBLIC_URL_CERTIFICATE",
    "off",
    "Whether the service gets a certificate for PUBLIC_URL's host from ACME_DIRECTORY_URL, and answers it at EDGE_HTTPS_PORT",
  ),
  acmeDirectoryUrl: setting({
    name: "ACME_DIRECTORY_URL",
    fallback: "",
    parse: (text) => (text === "" ? "" : serverUrl(["https:"])(text)),
    allowed: "the https URL of an ACME directory, such as https://acme-v02.api.letsencrypt.org/directory",
    meaning: "The authority that issues the certificates of custom domains; without it none are issued",
  }),
  acmeCa: certificateFile("ACME_CA_FILE", "PEM file of the authorities that the directory's own certificate may come from"),
  acmeEmail: matching("ACME_EMAIL", /^[^\s@,]+@[^\s@,]+$/, "an email address", "Where the authority may write to"),
  acmeEabKid: matching(
    "ACME_EAB_KID",
    /^[\x21-\x7e]{1,500}$/,
    "a key identifier",
    "Key identifier of your account at the authority, if it requires one",
  ),
  acmeEabHmac: secret(matching("ACME_EAB_HMAC", /^[\w+/=-]{1,500}$/, "a base64url key", "The HMAC key of ACME_EAB_KID")),
  acmeCaaIdentities: setting({
    name: "ACME_CAA_IDENTITIES",
    fallback: "",
    parse: (text) => items(text, (item) => (/^[a-z0-9.-]{1,253}$/i.test(item) ? item.toLowerCase() : undefined)),
    allowed: "domain names, separated by commas",
    meaning: "The authority's names in CAA records, in place of the directory's caaIdentities",
  }),
  acmeBudget: setting({
    name: "ACME_BUDGET",
    fallback: "",
    parse: (text) => attempt(() => parseBudget(text)),
    allowed: "such as failures=5/1h,duplicates=5/7d,domain=50/7d,orders=300/3h; =off lifts one",
    meaning: "The authority's limits, which the service keeps to; without it those of Let's Encrypt",
  }),
  secretsKey: setting({
    name: "SECRETS_KEY",
    fallback: "",
    parse: (text) => (text === "" ? null : attempt(() => parseSecretsKeys(text))),
    allowed: "32 bytes as base64, or several with commas between: the one in use first, then earlier ones",
    meaning: "Encrypts private keys; the same on all nodes; without DATABASE_URL the first start makes it, in DATA_DIR/secrets.key",
    secret: true,
  }),
  dnsServers: setting({
    name: "DNS_SERVERS",
    fallback: "",
    parse: (text) => items(text, (item) => attempt(() => (parseNameserver(item), item))),
    allowed: "IP addresses with or without a port, separated by commas",
    meaning: "The DNS resolvers that domains are checked with; without it the system's",
  }),
};

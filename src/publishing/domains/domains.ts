import { domainToASCII } from "node:url";
import { Type, type Static } from "typebox";
import type { Change } from "../../platform/nodes/nodes.ts";
import { DateTime, Id, named, Nullable } from "../../platform/http/schemas.ts";
import { redirectStatuses } from "./redirects.ts";

export { parseNameserver } from "./dns-query.ts";
export { createDns, type Dns } from "./lookup.ts";
export type { DomainProblem } from "./domain-problems.ts";
export type { Verdict } from "./verification.ts";

const statuses = ["pending", "verified", "failing"] as const;
const certificateStatuses = ["none", "issuing", "issued", "failing"] as const;
export type CertificateStatus = (typeof certificateStatuses)[number];

const hostname = Type.String({
  minLength: 1,
  maxLength: 1_024,
  description: "A domain or subdomain, such as `www.example.com`; IDN in either form.",
});
const moment = (description: string) => Nullable(DateTime(description));

const record = Type.Object(
  {
    type: Type.Enum(["CNAME", "ALIAS"], { description: "`CNAME` for a subdomain; for an apex `ALIAS`, which some providers call ANAME." }),
    name: Type.String({ description: "The label below the registrable domain, or `@`." }),
    value: Type.String({ description: "The platform target host: it must match exactly." }),
    ttl: Type.Integer({ description: "Seconds." }),
  },
  { additionalProperties: false, description: "The DNS record to create at the registrar." },
);

const challenge = Type.Object(
  { type: Type.Enum(["TXT"]), name: Type.String(), value: Type.String() },
  { additionalProperties: false, description: "A record that is needed as well, where another account has used the name." },
);

const problem = Type.Object(
  {
    code: Type.String({
      description: "Such as `record_missing`, `conflicting_record`, `wrong_target`, `lookup_failed`, `proof_missing`, `caa_blocks`.",
    }),
    message: Type.String(),
    expected: Type.String(),
    found: Type.String(),
    fix: Type.String({ description: "What to change, and where." }),
  },
  { additionalProperties: false },
);

const certificate = Type.Object(
  {
    status: Type.Enum([...certificateStatuses], {
      description: "`none` while the name has not verified, and for good where the service has no certificate authority.",
    }),
    issuedAt: moment("When the certificate that is served was issued."),
    expiresAt: moment("When it ends; it is renewed before."),
    problem: Nullable(Type.String({ description: "Why the last try failed." })),
    retryAt: moment("When the next one is made."),
  },
  { additionalProperties: false },
);

const attention = Type.Object(
  {
    since: DateTime("Since when the certificate is late."),
    message: Type.String(),
    checks: Type.Array(
      Type.Object(
        { check: Type.String(), passed: Nullable(Type.Boolean({ description: "null: could not be checked." })), message: Type.String() },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false, description: "What to look at when there is no certificate after 30 minutes." },
);

const redirect = Type.Object(
  {
    to: Type.String({ description: "A name of the same project that does not redirect itself." }),
    status: Type.Enum([...redirectStatuses]),
  },
  { additionalProperties: false },
);

export const NewDomain = named("NewDomain", Type.Object({ hostname }, { additionalProperties: false }));

export const DomainPatch = named(
  "DomainPatch",
  Type.Object(
    {
      primary: Type.Optional(Type.Boolean({ description: "Makes it the project's primary name; another one is no longer." })),
      redirect: Type.Optional(
        Nullable(
          Type.Object(
            {
              to: Type.Optional(Type.String({ minLength: 1, maxLength: 1_024 })),
              status: Type.Optional(Type.Integer({ description: "301, 302, 307 or 308; 301 unless told." })),
            },
            { additionalProperties: false, description: "Where the name redirects to, path and query kept; null ends it." },
          ),
        ),
      ),
    },
    { additionalProperties: false },
  ),
);

export const Domain = named(
  "Domain",
  Type.Object(
    {
      hostname: Type.String(),
      projectId: Id("The project that it serves."),
      kind: Type.Enum(["subdomain", "apex"]),
      status: Type.Enum([...statuses], {
        description: "`pending`: never verified yet. `failing`: its DNS has changed since; still served, and checked hourly.",
      }),
      primary: Type.Boolean(),
      redirect: Nullable(redirect),
      record,
      challenge: Nullable(challenge),
      problems: Type.Array(problem),
      certificate,
      attention: Nullable(attention),
      nextCheckAt: moment("When DNS is checked next by itself."),
      createdAt: DateTime("When it was added."),
      verifiedAt: moment("When its DNS was last found right."),
    },
    { additionalProperties: false },
  ),
);
export type Domain = Static<typeof Domain>;
export const Domains = named("Domains", Type.Array(Domain));

export const RemovedDomain = named(
  "RemovedDomain",
  Type.Object(
    { hostname: Type.String(), warning: Type.String({ description: "What is left to do at the registrar." }) },
    { additionalProperties: false },
  ),
);

export const DomainPath = Type.Object({
  projectId: Id("The project's identifier."),
  hostname: Type.String({ description: "The domain's host name." }),
});

/** Plans that custom domains come with: Pro and above (spec part 1, rule 1). */
export const paidPlans: ReadonlySet<string> = new Set(["pro", "business", "enterprise"]);

/** Names that one project may have. */
export const domainsMax = 10_000;

/** Whether a text can be `{platform_domain}`: a host name of at least two labels, in lower case (RFC 1123, section 2.1). */
export function isPlatformDomain(text: string): boolean {
  const labels = text.split(".");
  return text.length <= 189 && labels.length > 1 && labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
}

/** What no host name has, of ASCII. */
const strayInName = /[\0-,/:-@[-`{-\x7F]/;

/** A name as it is kept, of one that may be written in any case, with a final dot or as IDN; nothing is checked. */
export function keptForm(name: string): string {
  const trimmed = name.trim().replace(/\.$/, "");
  // The mapping reads a host name up to where a URL's would end, and `www.example.com/path` is no spelling of www.example.com.
  return (!strayInName.test(trimmed) && domainToASCII(trimmed)) || trimmed.toLowerCase();
}

/** What is served at a name, or how its certificate is proved, is another thing now. */
export function domainChanged(name: string): Change {
  return { kind: "domain", subject: name };
}

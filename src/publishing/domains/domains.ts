import { domainToASCII } from "node:url";
import { Challenge, DateTime, Id, named, Nullable, openEnumeration, OpenText, variant } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import type { Change } from "../../platform/nodes/nodes.ts";
import { RedirectStatus } from "../projects/projects.ts";
import { attentionChecks, domainProblemCodes } from "./troubles.ts";

const statuses = ["pending", "verified", "failing"] as const;
const certificateStatuses = ["none", "issuing", "issued", "failing"] as const;
export type CertificateStatus = (typeof certificateStatuses)[number];

/** The most characters of a host name as people type it, which may include a path or spaces. */
const typedLengthMax = 1_024;
const hostname = Type.String({
  minLength: 1,
  maxLength: typedLengthMax,
  "x-pattern": "^\\s*[^\\s\\x00-\\x1F\\x7F!-,\\x2F:-@\\[-`{-~]+\\s*$",
  description: "A domain or subdomain, such as `www.example.com`; IDN in either form.",
});
const moment = (description: string) => Nullable(DateTime(description));

const record = named(
  "DnsRecord",
  Type.Object(
    {
      type: variant(openEnumeration("DnsRecordType", ["CNAME", "ALIAS"]), {
        description: "`CNAME` for a subdomain; `ALIAS` for an apex, which some providers call ANAME.",
      }),
      name: Type.String({ description: "The label below the registrable domain, or `@`." }),
      value: Type.String({ description: "The host of the platform. It must match exactly." }),
      ttl: Type.Integer({ description: "Seconds." }),
    },
    { additionalProperties: false, description: "The DNS record to create at the registrar." },
  ),
);

const problem = named(
  "DomainProblem",
  Type.Object(
    {
      code: OpenText(domainProblemCodes, "What kind of problem it is."),
      message: Type.String(),
      expected: Type.String(),
      found: Type.String(),
      fix: Type.String({ description: "What to change, and where." }),
    },
    { additionalProperties: false },
  ),
);

const serving = named(
  "DomainServing",
  Type.Object(
    {
      what: variant(openEnumeration("DomainServes", ["site", "redirect", "nothing"]), {
        description: "`nothing`: visitors get a 404, or no connection over HTTPS.",
      }),
      to: Nullable(Type.String({ description: "The target of a redirect." })),
      reason: Type.String({ description: "Why, in words for people." }),
    },
    { additionalProperties: false, description: "What visitors of the domain get now, and why." },
  ),
);

const certificate = named(
  "DomainCertificate",
  Type.Object(
    {
      status: variant(openEnumeration("CertificateStatus", certificateStatuses), {
        description: "`none` until the name is verified, and always if the service has no certificate authority.",
      }),
      issuedAt: moment("When the certificate that is served was issued."),
      expiresAt: moment("When it expires; it is renewed before that."),
      problem: Nullable(Type.String({ description: "Why the last attempt failed." })),
      retryAt: moment("When the next attempt is made."),
    },
    { additionalProperties: false },
  ),
);

const attention = named(
  "DomainAttention",
  Nullable(
    Type.Object(
      {
        since: DateTime("Since when the certificate has been late."),
        message: Type.String(),
        checks: Type.Array(
          named(
            "DomainCheck",
            Type.Object(
              {
                check: OpenText(attentionChecks, ""),
                passed: Nullable(Type.Boolean({ description: "null: could not be checked." })),
                message: Type.String(),
              },
              { additionalProperties: false },
            ),
          ),
        ),
      },
      { additionalProperties: false, description: "What to check if there is no certificate after 30 minutes, or if it has expired." },
    ),
  ),
);

const redirect = named(
  "DomainRedirect",
  Nullable(
    Type.Object(
      {
        to: Type.String({
          description:
            "A name of the same project that does not redirect. The redirect is in effect while that name is verified and has a certificate; at other times, and if that name is removed, the domain serves the site.",
        }),
        status: RedirectStatus,
      },
      { additionalProperties: false },
    ),
  ),
);

export const DomainInput = named("DomainInput", Type.Object({ hostname }, { additionalProperties: false }));

export const DomainPatch = named(
  "DomainPatch",
  Type.Object(
    {
      primary: Type.Optional(
        Type.Boolean({ description: "Makes it the primary name of the project, in place of any other. It has to be verified." }),
      ),
      redirect: Type.Optional(
        named(
          "DomainRedirectInput",
          Nullable(
            Type.Object(
              {
                to: Type.Optional(Type.String({ minLength: 1, maxLength: 1_024 })),
                status: Type.Optional(RedirectStatus),
              },
              {
                additionalProperties: false,
                description: "Where the name redirects to; null removes the redirect. The rest of the address stays.",
              },
            ),
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
      kind: openEnumeration("DomainKind", ["subdomain", "apex"]),
      status: variant(openEnumeration("DomainStatus", statuses), {
        description: "`pending`: never verified yet. `failing`: its DNS has changed since; still served, and checked hourly.",
      }),
      primary: Type.Boolean({
        description:
          "Whether it is the primary name of the project. That takes effect once it is verified and has a certificate; until then an earlier primary name stays in effect.",
      }),
      redirect,
      record,
      challenge: named("DomainProof", Nullable(Challenge)),
      problems: Type.Array(problem),
      serving,
      certificate,
      attention,
      nextCheckAt: moment("When DNS is checked next automatically."),
      createdAt: DateTime("When it was added."),
      verifiedAt: moment("When its DNS was last correct."),
    },
    { additionalProperties: false },
  ),
);
export type Domain = Static<typeof Domain>;
export const Domains = named("Domains", Type.Array(Domain));

export const RemovedDomain = named(
  "RemovedDomain",
  Type.Object(
    {
      hostname: Type.String(),
      warning: Type.Optional(Type.String({ description: "What is left to do at the registrar." })),
      redirects: Type.Array(Type.String(), { description: "The names that redirected to it. They now serve the site." }),
    },
    { additionalProperties: false },
  ),
);

export const DomainPath = Type.Object({
  projectId: Id("The project's identifier."),
  hostname: Type.String({ description: "The domain's host name." }),
});

/** Plans with custom domains: Pro and above (specification 5.1). */
export const paidPlans: ReadonlySet<string> = new Set(["pro", "business", "enterprise"]);

/** The most names that one project may have. */
export const domainsMax = 10_000;

/** ASCII characters that no host name has. */
const strayInName = /[\0-,/:-@[-`{-\x7F]/;

/**
 * The stored form of a name that may be written in any case, with a final dot or as IDN; does not validate it. `domainToASCII` takes quadratic
 * time, so a text longer than any name is returned unchanged, and matches no name.
 */
export function storedForm(name: string): string {
  if (name.length > typedLengthMax) return name;
  const trimmed = name.trim().replace(/\.$/, "");
  // `domainToASCII` stops where the host of a URL would end, but `www.example.com/path` must not match www.example.com.
  return (!strayInName.test(trimmed) && domainToASCII(trimmed)) || trimmed.toLowerCase();
}

/** The change that tells all nodes that a name, or its challenge, has changed. */
export function domainChanged(name: string): Change {
  return { kind: "domain", subject: name };
}

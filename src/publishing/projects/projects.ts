import { DateTime, enumeration, Id, named, Nullable, OwnId, paging, Text, writtenBack } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import type { Change } from "../../platform/nodes/nodes.ts";
import { invalidAt } from "../../platform/problem.ts";
import { redirectsMax, redirectStatuses } from "./project-file.ts";

const name = Text("The project's name.", 1, 200);
const slug = Type.String({
  minLength: 1,
  maxLength: 63,
  "x-pattern": "^[a-z0-9]+(?:-[a-z0-9]+)*$",
  description: "One DNS label: the project is served at `{slug}.{platform_domain}`. Unique over all accounts.",
});

const hsts = Type.Boolean({
  description:
    "Whether the project's custom domains tell browsers to open them over HTTPS only (HSTS). They do so for a day in the week after a name is verified, then for a year. Sent if the service is reached at ports 80 and 443.",
});

export const ProjectInput = named("ProjectInput", Type.Object({ name, slug }, { additionalProperties: false }));
export type ProjectInput = Static<typeof ProjectInput>;

const redirectToPrimary = Type.Boolean({
  description:
    "Whether the project's other names, its address on the platform included, redirect to its primary name. They do so (308) while the primary name is in effect. Initially false.",
});

const ProjectPatch = named(
  "ProjectPatch",
  Type.Object(
    {
      name: Type.Optional(name),
      slug: Type.Optional(slug),
      hsts: Type.Optional(hsts),
      redirectToPrimary: Type.Optional(redirectToPrimary),
    },
    { additionalProperties: false },
  ),
);

/** The statuses that a redirect may have. */
export const RedirectStatus = enumeration("RedirectStatus", redirectStatuses);

const projectRedirect = named(
  "ProjectRedirect",
  Type.Object(
    {
      from: Type.String({ description: "The name that redirects." }),
      to: Type.String({ description: "The target of the redirect." }),
      status: RedirectStatus,
    },
    { additionalProperties: false },
  ),
);

const domains = named(
  "ProjectDomains",
  Type.Object(
    {
      primary: Nullable(
        Type.String({
          description:
            'The primary name. It takes effect once it is verified and has a certificate: then it is `url`, and the project\'s other names answer with `Link: <…>; rel="canonical"` to it.',
        }),
      ),
      redirects: Type.Array(projectRedirect, {
        description: `The redirects, ordered by \`from\`: the first ${redirectsMax}, as many as a \`petstore.json\` can list.`,
      }),
    },
    {
      additionalProperties: false,
      description: "The current configuration of the project's domains, in the form of a `petstore.json`.",
    },
  ),
);

export const WrittenProjectPatch = writtenBack(ProjectPatch, { id: OwnId("projectId") });

export const Project = named(
  "Project",
  Type.Object(
    {
      id: Id("Unique identifier assigned on creation."),
      name,
      slug,
      url: Type.String({
        description: "The address of the project: its primary name while that is in effect, otherwise its address on the platform.",
      }),
      deploymentId: Nullable(Id("The deployment that is served; null before the first one.")),
      domains,
      redirectToPrimary,
      hsts,
      createdAt: DateTime("When the project was made."),
    },
    { additionalProperties: false },
  ),
);
export type Project = Static<typeof Project>;

/** The names of a project as the API returns them. */
export type ProjectNames = Pick<Project, "url" | "domains">;
export const Projects = named("Projects", Type.Array(Project));

/** Projects that one account may have. */
export const projectsMax = 100;

export const ProjectPath = Type.Object({ projectId: Id("The project's identifier.") });
export const PageQuery = Type.Object(paging);

/** The message to all nodes that a project serves something else now. */
export function projectChanged(accountId: number, projectId: number): Change {
  return { kind: "project", subject: `${accountId}/${projectId}` };
}

/** Names that people would take for the service itself, or that have a meaning for software (RFC 2142, RFC 8461, autoconfiguration). */
const reserved = new Set(
  "www api app admin administrator dashboard docs help support status mail smtp imap pop ftp ns ns1 ns2 dns mx autoconfig autodiscover wpad isatap mta-sts localhost static assets cdn login signin sign-in account accounts billing security abuse postmaster hostmaster webmaster root petstore photos".split(
    " ",
  ),
);

/**
 * Requires that a slug is one DNS label in lower case (RFC 1123, section 2.1) that is not reserved.
 *
 * @throws Problem `invalid_request`
 */
export function requireSlug(text: string): void {
  const reason = !/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(text)
    ? "must be lower-case letters, digits and hyphens, and neither begin nor end with a hyphen"
    : text.includes("--")
      ? "must not have two hyphens side by side"
      : reserved.has(text)
        ? "is reserved: choose another"
        : undefined;
  if (reason !== undefined) throw invalidAt("body.slug", reason);
}

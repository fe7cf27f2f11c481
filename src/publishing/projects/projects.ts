import { Type, type Static } from "typebox";
import { DateTime, Id, named, Nullable, paging, Text } from "../../platform/http/schemas.ts";
import type { Change } from "../../platform/nodes/nodes.ts";
import { Problem } from "../../platform/problem.ts";

export { manifestFromText, type Manifest } from "./manifest.ts";
export type { ProjectFile } from "./project-file.ts";

const name = Text("The project's name.", 1, 200);
const slug = Type.String({
  minLength: 1,
  maxLength: 63,
  description: "One DNS label: the project is served at `{slug}.{platform_domain}`. Unique over all accounts.",
});

export const NewProject = named("NewProject", Type.Object({ name, slug }, { additionalProperties: false }));
export type NewProject = Static<typeof NewProject>;

export const ProjectPatch = named(
  "ProjectPatch",
  Type.Object({ name: Type.Optional(name), slug: Type.Optional(slug) }, { additionalProperties: false }),
);

export const Project = named(
  "Project",
  Type.Object(
    {
      id: Id("Unique identifier assigned on creation."),
      name,
      slug,
      url: Type.String({ description: "Where the project is served on the platform." }),
      deploymentId: Nullable(Id("The deployment that is served; null before the first one.")),
      createdAt: DateTime("When the project was made."),
    },
    { additionalProperties: false },
  ),
);
export type Project = Static<typeof Project>;
export const Projects = named("Projects", Type.Array(Project));

export const ProjectPath = Type.Object({ projectId: Id("The project's identifier.") });
export const PageQuery = Type.Object(paging);

/** What is served of a project is another thing now. */
export function projectChanged(accountId: number, projectId: number): Change {
  return { kind: "project", subject: `${accountId}/${projectId}` };
}

/** Names that people would take for the service's own, or that software gives a meaning (RFC 2142, RFC 8461, autoconfiguration). */
const reserved = new Set(
  "www api app admin administrator dashboard docs help support status mail smtp imap pop ftp ns ns1 ns2 dns mx autoconfig autodiscover wpad isatap mta-sts localhost static assets cdn login signin sign-in account accounts billing security abuse postmaster hostmaster webmaster root petstore".split(
    " ",
  ),
);

/**
 * Holds a slug to one DNS label in lower case (RFC 1123, section 2.1) that is not reserved.
 *
 * @throws Problem `invalid_request`
 */
export function requireSlug(text: string): void {
  const reason = !/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(text)
    ? "must be lower-case letters, digits and hyphens, and neither begin nor end with a hyphen"
    : text.slice(2, 4) === "--"
      ? "must not have two hyphens at its third place, which announce punycode"
      : reserved.has(text)
        ? "is reserved: choose another"
        : undefined;
  if (reason !== undefined)
    throw new Problem("invalid_request", `body.slug ${reason}.`, { details: [{ path: "body.slug", message: reason }] });
}

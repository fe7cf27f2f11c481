import type { Queryable } from "../../platform/db/database.ts";
import type { ProjectNames } from "../projects/projects.ts";
import { isReadyAt, type Checks } from "./checks.ts";
import { type StoredName, readConfigured } from "./names.store.ts";
import { configuredPrimary } from "./redirects.ts";

/** The address of a site, with scheme and port: at a project's slug on the platform, or at a custom domain. */
export type Origins = { ofSlug: (slug: string) => string; ofDomain: (hostname: string, isSecure: boolean) => string };

/** The names of an account's projects as the API returns them, in the order of the projects. */
export async function projectNames(
  db: Queryable,
  checks: Checks,
  { ofSlug, ofDomain }: Origins,
  projects: { accountId: number; id: number; slug: string }[],
  now: number,
): Promise<ProjectNames[]> {
  const [first] = projects;
  if (first === undefined) return [];
  const ids = projects.map(({ id }) => id);
  const { isPaid, byProject } = await readConfigured(db, first.accountId, ids);
  return projects.map(({ id, slug }) => {
    const { primaries, redirects } = byProject.get(id)!;
    const inEffect = isPaid ? primaries.find((name) => name.primary && isReadyAt(checks, name, now)) : undefined;
    return {
      url: inEffect === undefined ? ofSlug(slug) : ofDomain(inEffect.hostname, inEffect.certificateId !== null),
      domains: { primary: configuredPrimary(primaries), redirects: redirects.flatMap(configuredRedirect) },
    };
  });
}

function configuredRedirect({ hostname: from, redirect }: StoredName) {
  return redirect === null ? [] : [{ from, to: redirect.to, status: redirect.status }];
}

import type { FormerCounts } from "../publishing/certificates/former-authority.ts";
import { fault, ok, warning, type Finding } from "./findings.ts";
import type { Settings } from "./settings.ts";

/** Returns the first row of a statement's answer. */
export type Ask = (query: { sql: string; text: string; values: unknown[] }) => unknown;

/** Categories whose names fold alike since a release that folds more: each can be changed, but a new name is compared with the first (decision 0107). */
export async function nameFindings(ask: Ask): Promise<Finding[]> {
  const { namesAlike } = await import("../store/pets/folded-names.store.ts");
  const { count, account_id: account, name } = (await ask(namesAlike)) as { count: number | string; account_id: number; name: string };
  const message = `${count} categories have names that fold like those of others, such as “${name}” of account ${account}`;
  return Number(count) === 0 ? [] : [warning("names", message, "rename them in the dashboard, or merge them")];
}

/**
 * Certificates of another authority than the configured one, which are replaced as fast as the budget allows (decision 0104), and why the host of PUBLIC_URL
 * has no new certificate.
 */
export async function certificateFindings(
  { acmeDirectoryUrl, acmeBudget, publicUrl, publicUrlCertificate }: Settings,
  now: number,
  ask: Ask,
): Promise<Finding[]> {
  if (acmeDirectoryUrl === "") return [];
  const { formerCounts, lastReplacedAt, serviceProblem } = await import("../publishing/certificates/former-authority.ts");
  const counts = (await ask(formerCounts(acmeDirectoryUrl, now))) as FormerCounts;
  const { remaining, kept } = counts;
  const by = new Date(lastReplacedAt(counts, acmeBudget, now)).toISOString();
  const found: Finding[] = [];
  const own = publicUrlCertificate
    ? ((await ask(serviceProblem(new URL(publicUrl).hostname))) as { problem: string | null } | undefined)
    : undefined;
  if (own?.problem)
    found.push(
      fault("acme", `PUBLIC_URL has no new certificate: ${own.problem}`, "correct what the message names; the service tries again"),
    );
  if (remaining > 0)
    found.push(
      warning(
        "acme",
        `${remaining} certificates are of another authority; the service replaces the last by ${by} at the earliest`,
        "nothing, if ACME_DIRECTORY_URL is right",
      ),
    );
  if (kept > 0)
    found.push(
      warning(
        "acme",
        `${kept} trusted certificates of another authority stay until they expire: those of ACME_DIRECTORY_URL are not trusted`,
        "set ACME_DIRECTORY_URL to an authority that is trusted, or replace them by `petstore certificates replace`",
      ),
    );
  return found;
}

/** Compares the newest migration of the data with this version's. */
export function schemaFinding(found: number, known: number): Finding {
  if (found > known)
    return fault("database", "the data is from a newer version", "run that version, or go back to the copy from before it");
  if (found < known) return ok("database", "the data is from an earlier version: the next start upgrades it");
  return ok("database", "the data is from this version");
}

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, type LinkProps } from "@tanstack/react-router";
import { lazy, Suspense, type ReactNode } from "react";
import { useSession } from "../dashboard/session.ts";
import { Section } from "../parts/page-header.tsx";
import { petCountsQuery } from "../pets/counts.ts";
import { texts } from "../texts/texts.ts";
import styles from "./home.module.css";
import { domainsQuery, projectsQuery } from "./queries.ts";

const CurrencyDialog = lazy(() => import("../members/currency-dialog.tsx"));
const route = getRouteApi("/dashboard/");
const words = texts.home;
/** Steps that a shop may do without: not every plan has domains, and prices are in euros until an owner chooses another currency. */
const optional: ReadonlySet<Step["id"]> = new Set<Step["id"]>(["currency", "domain"]);

type Step = { id: keyof typeof words.steps; isDone: boolean; link: LinkProps };

/** The first steps of a new shop. Each leads to the form that does it; when all are done, the list disappears. */
export function SetUp(): ReactNode {
  const { account, isOwner } = useSession();
  const { currency: isChoosing } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: animals } = useQuery(petCountsQuery({}));
  const { data: projects } = useQuery(projectsQuery);
  const { data: domains = [] } = useQuery({ ...domainsQuery(projects ?? []), enabled: projects !== undefined && projects.length > 0 });
  if (!animals || !projects) return null;
  const first = projects[0];
  const params = { projectId: String(first?.id) };
  const newProject: LinkProps = { to: "/dashboard/projects", search: { new: true } };
  const steps: Step[] = [
    { id: "shop", isDone: first !== undefined, link: newProject },
    ...(isOwner
      ? [{ id: "currency", isDone: account.currency !== null, link: { to: "/dashboard", search: { currency: true } } } as const]
      : []),
    { id: "animals", isDone: animals.count > 0, link: { to: "/dashboard/animals", search: { new: true } } },
    {
      id: "logo",
      isDone: projects.some(({ deploymentId }) => deploymentId !== null),
      link: first ? { to: "/dashboard/projects/$projectId/shop", params } : newProject,
    },
    {
      id: "domain",
      isDone: domains.length > 0,
      link: first ? { to: "/dashboard/projects/$projectId/domains", params } : newProject,
    },
  ];
  const done = steps.filter(({ isDone }) => isDone).length;
  if (steps.every(({ id, isDone }) => isDone || optional.has(id))) return null;
  return (
    <Section title={words.setUp} lead={words.stepsDone(done, steps.length)}>
      <ol className={styles.list} aria-label={words.setUp}>
        {steps.map(({ id, isDone, link }) => (
          <li key={id} data-done={isDone}>
            <Link {...link} activeProps={{}}>
              {words.steps[id]}
            </Link>
            <span>{isDone ? words.done : words.open}</span>
          </li>
        ))}
      </ol>
      <Suspense>{isOwner && isChoosing && <CurrencyDialog onClose={() => void navigate({ search: {}, resetScroll: false })} />}</Suspense>
    </Section>
  );
}

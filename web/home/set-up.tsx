import { Button } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, type LinkProps } from "@tanstack/react-router";
import { lazy, Suspense, type ReactNode } from "react";
import { useSession } from "../dashboard/session.ts";
import { Section } from "../parts/page-header.tsx";
import { petCountsQuery } from "../pets/counts.ts";
import { logoName, shopQuery } from "../projects/storefront.ts";
import { texts } from "../texts/texts.ts";
import styles from "./home.module.css";
import { domainsQuery, photoQuery, projectsQuery } from "./queries.ts";

const CurrencyDialog = lazy(() => import("../members/currency-dialog.tsx"));
const route = getRouteApi("/dashboard/");
const words = texts.home;

type Step = { id: keyof typeof words.steps; isDone: boolean; link: LinkProps };
type SetUpSteps = { steps: Step[]; isReading: boolean; hide: () => void };

/** The first steps of a new shop, each with the form that does it. There are none once all are done, or after `hide` in this browser. */
export function useSetUp(): SetUpSteps {
  const { account, isOwner } = useSession();
  const key = `set-up-hidden-${account.id}`;
  const [isHidden, setHidden] = useLocalStorage({ key, defaultValue: false, getInitialValueInEffect: false });
  const { data: projects = [] } = useQuery(projectsQuery);
  const [first] = projects;
  const live = projects.find(({ deploymentId }) => deploymentId !== null);
  const { data: animals } = useQuery(petCountsQuery({}));
  const photo = useQuery({ ...photoQuery, enabled: !isHidden && animals !== undefined && animals.count > 0 });
  const shop = useQuery({ ...shopQuery(live?.id ?? 0, live?.deploymentId ?? null), enabled: !isHidden && live !== undefined });
  const domains = useQuery({ ...domainsQuery(projects), enabled: !isHidden && first !== undefined });
  const settings = shop.data?.settings ?? null;
  const hasLogo = settings !== null && logoName(settings) !== undefined;
  const ofProject = (to: "/dashboard/projects/$projectId/shop" | "/dashboard/projects/$projectId/domains"): LinkProps =>
    first ? { to, params: { projectId: String((live ?? first).id) } } : { to: "/dashboard/projects", search: { new: true } };
  const shopLink = ofProject("/dashboard/projects/$projectId/shop");
  const all: Step[] = [
    { id: "shop", isDone: hasLogo, link: shopLink },
    { id: "currency", isDone: account.currency !== null || !isOwner, link: { to: "/dashboard", search: { currency: true } } },
    { id: "animal", isDone: photo.data === true, link: { to: "/dashboard/animals", search: { new: true } } },
    { id: "publish", isDone: live !== undefined, link: shopLink },
    { id: "domain", isDone: (domains.data ?? []).length > 0, link: ofProject("/dashboard/projects/$projectId/domains") },
  ];
  const isOver = isHidden || all.every(({ isDone }) => isDone);
  const steps = isOver ? [] : all.filter(({ id }) => isOwner || id !== "currency");
  return { steps, isReading: [photo, shop, domains].some(({ isLoading }) => isLoading), hide: () => setHidden(true) };
}

/** The list of the first steps. */
export function SetUp({ steps, hide }: SetUpSteps): ReactNode {
  const { currency: isChoosing } = route.useSearch();
  const navigate = route.useNavigate();
  if (steps.length === 0) return null;
  const done = steps.filter(({ isDone }) => isDone).length;
  const hideButton = (
    <Button variant="subtle" size="compact-sm" onClick={hide}>
      {words.hideSetUp}
    </Button>
  );
  return (
    <Section title={words.setUp} lead={words.stepsDone(done, steps.length)} actions={hideButton}>
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
      <Suspense>
        {isChoosing && steps.some(({ id }) => id === "currency") && (
          <CurrencyDialog onClose={() => void navigate({ search: {}, resetScroll: false })} />
        )}
      </Suspense>
    </Section>
  );
}

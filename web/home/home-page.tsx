import { Progress } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, type ReactNode } from "react";
import { useSession } from "../dashboard/session.ts";
import { Waiting } from "../frame/waiting.tsx";
import { lowStockQuery } from "../inventory/queries.ts";
import { accountQuery } from "../members/queries.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { PageHeader, Section } from "../parts/page-header.tsx";
import { petCountsQuery } from "../pets/counts.ts";
import { ThumbLink, WithThumb } from "../pets/thumb.tsx";
import { formatNumber, texts } from "../texts/texts.ts";
import { Attention } from "./attention.tsx";
import { Figures } from "./figures.tsx";
import styles from "./home.module.css";
import { figuresQuery, openOrdersQuery, projectsQuery, troublesQuery, waitingReservationsQuery } from "./queries.ts";
import { SetUp, useSetUp } from "./set-up.tsx";

const YourShop = lazy(() => import("./your-shop.tsx"));
const words = texts.home;
const lowShownMax = 10;

/**
 * `/dashboard`: what needs attention today. It reads everything at the same time, and shows the sections once it knows which of them there
 * are, so that no section moves another.
 */
export function HomePage(): ReactNode {
  const [animals, projects, orders] = [useQuery(petCountsQuery({})), useQuery(projectsQuery), useQuery(openOrdersQuery)];
  const [low, account, figures] = [useQuery(lowStockQuery(lowShownMax)), useQuery(accountQuery), useQuery(figuresQuery)];
  const troubles = useQuery({ ...troublesQuery(projects.data ?? []), enabled: projects.data !== undefined && projects.data.length > 0 });
  const reservations = useQuery(waitingReservationsQuery);
  const setUp = useSetUp();
  const isReading =
    setUp.isReading || [animals, projects, orders, low, account, figures, reservations, troubles].some(({ isLoading }) => isLoading);
  return (
    <>
      <PageHeader title={words.page} lead={words.lead} />
      {isReading ? <Waiting lines={9} /> : <Parts setUp={setUp} />}
    </>
  );
}

function Parts({ setUp }: { setUp: ReturnType<typeof useSetUp> }): ReactNode {
  const { data: projects = [] } = useQuery(projectsQuery);
  const live = projects.find(({ deploymentId }) => deploymentId !== null);
  return (
    <>
      <SetUp {...setUp} />
      <Attention />
      <Figures />
      <OpenOrders />
      <LowStock />
      <Plan />
      <Suspense>{live && <YourShop project={live} />}</Suspense>
    </>
  );
}

function OpenOrders(): ReactNode {
  const { data: orders, error, refetch } = useQuery(openOrdersQuery);
  return (
    <Section title={words.orders} actions={<Link to="/dashboard/orders">{words.allOrders}</Link>}>
      <ErrorPanel error={orders ? null : error} onRetry={() => void refetch()} />
      {!orders && !error && <Waiting lines={3} />}
      {orders?.length === 0 && <p className={styles.quiet}>{words.noOrders}</p>}
      {orders && orders.length > 0 && (
        <ul className={styles.list} aria-label={words.orders}>
          {orders.map(({ id, petId, quantity }) => (
            <li key={id}>
              <Link to="/dashboard/orders/$orderId" params={{ orderId: String(id) }}>
                {texts.store.orders.editTitle(id ?? 0)}
              </Link>
              <span className={styles.animal}>{petId === undefined ? texts.store.orders.draft : <ThumbLink petId={petId} />}</span>
              <span>{words.units(formatNumber(quantity ?? 1))}</span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

const allStock = { to: "/dashboard/inventory", children: words.allStock } as const;
const allLow = { ...allStock, search: { stock: "low" }, children: words.allLow } as const;

function LowStock(): ReactNode {
  const { lowStock } = useSession().account;
  const { data: low, error, refetch } = useQuery(lowStockQuery(lowShownMax));
  if (lowStock === 0) return null;
  return (
    <Section title={words.low} actions={<Link {...(low?.count ? allLow : allStock)} />}>
      <ErrorPanel error={low ? null : error} onRetry={() => void refetch()} />
      {!low && !error && <Waiting lines={3} />}
      {low?.count === 0 && <p className={styles.quiet}>{texts.store.inventory.enoughText}</p>}
      {low && low.count > 0 && (
        <ul className={styles.list} aria-label={words.low}>
          {low.entries.map(({ petId, quantity, name }) => (
            <li key={petId}>
              <span className={styles.animal}>
                <WithThumb petId={petId}>
                  <Link to="/dashboard/animals/$animalId" params={{ animalId: String(petId) }}>
                    {name}
                  </Link>
                </WithThumb>
              </span>
              <span>{quantity === 0 ? texts.store.inventory.none : words.left(formatNumber(quantity))}</span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Plan(): ReactNode {
  const { data: account } = useQuery(accountQuery);
  const records = account?.records;
  if (!records) return null;
  const percent = Math.min(100, (100 * records.used) / Math.max(1, records.limit));
  return (
    <Section title={words.plan} actions={<Link to="/dashboard/usage">{words.usage}</Link>}>
      <p className={styles.quiet}>{words.records(formatNumber(records.used), formatNumber(records.limit))}</p>
      <Progress value={percent} aria-label={words.plan} />
    </Section>
  );
}

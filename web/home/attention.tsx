import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { accountQuery } from "../members/queries.ts";
import { Moment } from "../parts/moment.tsx";
import { useNow } from "../parts/now.ts";
import { Section } from "../parts/page-header.tsx";
import { formatNumber, texts } from "../texts/texts.ts";
import { webhooksQuery } from "../webhooks/queries.ts";
import styles from "./home.module.css";
import { projectsQuery, troublesQuery, waitingReservationsQuery } from "./queries.ts";

const words = texts.home;
/** The part of the plan from which it is nearly full. */
const nearlyFull = 0.9;
/** A reservation that expires within this time (ms) is urgent. */
const expiresSoonMs = 12 * 60 * 60_000;

type Matter = { id: string; severity: keyof typeof words.severities; link: ReactNode; says: ReactNode };

/** What is wrong or soon will be, the most urgent first. Renders nothing if all is well. */
export function Attention(): ReactNode {
  const matters = [...useReservations(), ...useReceivers(), ...useDomains(), ...usePlan()];
  if (matters.length === 0) return null;
  const sorted = matters.toSorted((a, b) => Number(b.severity === "urgent") - Number(a.severity === "urgent"));
  return (
    <Section title={words.attention}>
      <ul className={styles.list} aria-label={words.attention}>
        {sorted.map(({ id, severity, link, says }) => (
          <li key={id}>
            <span className={styles.severity} data-severity={severity}>
              {words.severities[severity]}
            </span>
            {link}
            <span>{says}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Reservations and enquiries that wait for an answer. A reservation that is about to expire is urgent. */
function useReservations(): Matter[] {
  const { data: waiting } = useQuery(waitingReservationsQuery);
  const now = useNow(60_000);
  if (!waiting?.count) return [];
  const { count, firstLapsesAt: first } = waiting;
  const isUrgent = first !== null && Date.parse(first) < now + expiresSoonMs;
  const link = (
    <Link to="/dashboard/reservations" search={{ state: "open" }}>
      {words.reservations(formatNumber(count))}
    </Link>
  );
  const says = first !== null && (
    <>
      {words.firstExpires} <Moment at={first} />
    </>
  );
  return [{ id: "reservations", severity: isUrgent ? "urgent" : "soon", link, says }];
}

/** Endpoints of webhooks that fail; a notice on every page names those that are off. */
function useReceivers(): Matter[] {
  const { data: webhooks = [] } = useQuery(webhooksQuery);
  return webhooks.flatMap(({ id, url, enabled, failingSince }) => {
    if (!enabled || failingSince === null) return [];
    const link = (
      <Link to="/dashboard/webhooks/$webhookId" params={{ webhookId: String(id) }}>
        {url}
      </Link>
    );
    const says = (
      <>
        {words.failingSince} <Moment at={failingSince} />
      </>
    );
    return [{ id: `receiver ${id}`, severity: "urgent", link, says }];
  });
}

/** Domains and certificates with problems. */
function useDomains(): Matter[] {
  const { data: projects = [] } = useQuery(projectsQuery);
  const { data: troubled = [] } = useQuery({ ...troublesQuery(projects), enabled: projects.length > 0 });
  return troubled.map(({ projectId, hostname, problem }) => ({
    id: `domain ${hostname}`,
    severity: "urgent",
    link: (
      <Link to="/dashboard/projects/$projectId/domains" params={{ projectId: String(projectId) }}>
        {hostname}
      </Link>
    ),
    says: problem,
  }));
}

function usePlan(): Matter[] {
  const { data: account } = useQuery(accountQuery);
  const records = account?.records;
  if (!records || records.used < records.limit * nearlyFull) return [];
  const isFull = records.remaining <= 0;
  const link = <Link to="/dashboard/usage">{isFull ? words.full : words.nearlyFull}</Link>;
  return [{ id: "plan", severity: isFull ? "urgent" : "soon", link, says: null }];
}

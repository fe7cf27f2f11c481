import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./disabled-notice.module.css";
import { webhooksQuery } from "./queries.ts";

const words = texts.dashboard.webhooks;

/** A notice for every page while endpoints are off, with a link to turn them on again. */
export function DisabledNotice(): ReactNode {
  const { data: off } = useQuery({ ...webhooksQuery, select: (webhooks) => webhooks.filter(({ enabled }) => !enabled) });
  const [first] = off ?? [];
  if (!off || !first) return null;
  const isAlarm = off.some(({ disabledBecause }) => disabledBecause !== "request");
  return (
    <aside className={styles.notice} data-alarm={isAlarm} aria-label={words.page}>
      <span>{off.length === 1 ? words.oneOff(first.url) : words.severalOff(off.length)}</span>
      {off.length === 1 ? (
        <Link to="/dashboard/webhooks/$webhookId" params={{ webhookId: String(first.id) }} search={{ recover: true }}>
          {words.recover}
        </Link>
      ) : (
        <Link to="/dashboard/webhooks">{words.show}</Link>
      )}
    </aside>
  );
}

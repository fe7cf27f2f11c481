import { Button, SegmentedControl, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazyRouteComponent, Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Suspense, type ReactNode } from "react";
import type { Key } from "../calls/members.ts";
import type { Schemas } from "../calls/store.ts";
import { useIdle } from "../frame/use-idle.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Section } from "../parts/page-header.tsx";
import { formatNumber, texts } from "../texts/texts.ts";
import { GroupTable } from "./group-table.tsx";
import { keyName } from "./key-name.ts";
import { PointsTable } from "./points-table.tsx";
import { polledAccountQuery, polledKeysQuery, usageQuery } from "./queries.ts";
import { type UsageSearch, barsOf, intervals, totalOf, type Interval, type Point } from "./series.ts";
import styles from "./usage.module.css";

const Chart = lazyRouteComponent(() => import("./chart.tsx"), "Chart");
type Usage = Schemas["Usage"];

/** The requests over time: all of them, or those of one key or operation. */
export function Requests(): ReactNode {
  const { interval = "minute", ...only } = useSearch({ from: "/dashboard/usage" });
  const navigate = useNavigate({ from: "/dashboard/usage" });
  const byKey = useQuery(usageQuery(interval, "key"));
  const byOperation = useQuery(usageQuery(interval, "operation"));
  const keys = useQuery(polledKeysQuery);
  const show = (search: UsageSearch) => void navigate({ search: { interval, ...search }, replace: true, resetScroll: false });
  const error = byKey.error ?? byOperation.error;

  return (
    <Section
      title={texts.usage.chartTitle}
      actions={
        <SegmentedControl
          aria-label={texts.usage.interval}
          value={interval}
          onChange={(value) => show({ ...only, interval: value })}
          data={intervals.map((value) => ({ value, label: texts.usage.intervals[value] }))}
        />
      }
    >
      <ErrorPanel error={error} onRetry={() => void Promise.all([byKey.refetch(), byOperation.refetch()])} />
      {byKey.data && byOperation.data ? (
        <>
          <Shown usage={byKey.data} {...chosen(only, byKey.data, byOperation.data, keys.data)} onAll={() => show({})} />
          <Groups byKey={byKey.data} byOperation={byOperation.data} keys={keys.data} onChoose={show} />
        </>
      ) : (
        !error && <Skeleton height={300} radius="md" />
      )}
    </Section>
  );
}

type GroupsProps = { byKey: Usage; byOperation: Usage; keys: Key[] | undefined; onChoose: (only: UsageSearch) => void };

function Groups({ byKey, byOperation, keys, onChoose }: GroupsProps): ReactNode {
  const [ofKeys, ofOperations] = [byKey.groups ?? [], byOperation.groups ?? []];
  if (ofKeys.length === 0) {
    return (
      <div className={styles.nothing}>
        <EmptyState title={texts.usage.nothing} text={texts.usage.nothingText}>
          <Button variant="default" renderRoot={(props) => <Link to="/dashboard/keys" {...props} />}>
            {texts.usage.toKeys}
          </Button>
        </EmptyState>
      </div>
    );
  }
  return (
    <div className={styles.groups}>
      <GroupTable
        title={texts.usage.byKey}
        column={texts.usage.key}
        groups={ofKeys.map((group) => ({ ...group, name: keyName(group.keyId ?? 0, keys) }))}
        onChoose={({ keyId }) => onChoose({ key: keyId })}
      />
      <GroupTable
        title={texts.usage.byOperation}
        column={texts.usage.operation}
        groups={ofOperations.map((group) => ({ ...group, name: operationName(group.operation ?? "") }))}
        onChoose={({ operation }) => onChoose({ operation })}
      />
    </div>
  );
}

/** The subject of the chart: all requests, or one key or operation. */
function chosen({ key, operation }: UsageSearch, byKey: Usage, byOperation: Usage, keys: Key[] = []): { points: Point[]; name?: string } {
  if (key !== undefined) return { points: byKey.groups?.find(({ keyId }) => keyId === key)?.points ?? [], name: keyName(key, keys) };
  if (operation === undefined) return { points: byKey.points };
  const group = byOperation.groups?.find((candidate) => candidate.operation === operation);
  return { points: group?.points ?? [], name: operationName(operation) };
}

type ShownProps = { usage: Usage; points: Point[]; name?: string; onAll: () => void };

function Shown({ usage, points, name, onAll }: ShownProps): ReactNode {
  const isIdle = useIdle();
  const { interval } = usage;
  const { data: account } = useQuery(polledAccountQuery);
  const bars = barsOf(points, usage);
  const limit = interval === "hour" ? undefined : account?.[interval].limit;
  const label = texts.usage.chartLabel(
    texts.usage.intervals[interval],
    texts.usage.by[interval],
    formatNumber(bars.reduce((sum, bar) => sum + totalOf(bar), 0)),
    formatNumber(Math.max(0, ...bars.map(totalOf))),
  );
  return (
    <div className={styles.card}>
      {name !== undefined && (
        <p className={styles.only}>
          {texts.usage.showing(name)}
          <Button size="compact-sm" variant="default" onClick={onAll}>
            {texts.usage.showAll}
          </Button>
        </p>
      )}
      <Suspense fallback={<Skeleton height={260} radius="md" />}>
        {isIdle ? <Chart bars={bars} interval={interval} limit={limit} label={label} /> : <Skeleton height={260} radius="md" />}
      </Suspense>
      <p className={styles.small}>
        {interval === "day" ? `${limitText(interval, limit)} ${texts.usage.utcDays}` : limitText(interval, limit)}
      </p>
      <PointsTable bars={bars} />
    </div>
  );
}

function limitText(interval: Interval, limit: number | undefined): string {
  if (interval === "hour") return texts.usage.noHourLimit;
  return limit === undefined ? "" : texts.usage.limitIs[interval](formatNumber(limit));
}

function operationName(operation: string): string {
  return operation === "other" ? texts.usage.others : operation;
}

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { formatPrice } from "../../src/platform/currencies.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Section } from "../parts/page-header.tsx";
import { figuresTexts as words } from "../texts/en-figures.ts";
import { formatNumber } from "../texts/texts.ts";
import styles from "./home.module.css";
import { figuresQuery, type Figure, type Figures as ShopFigures } from "./queries.ts";

/** The currencies whose values are shown. */
const currenciesMax = 3;

/** The figures of the last 7 days, compared with the 7 days before. Renders nothing for a shop without any. */
export function Figures(): ReactNode {
  const { data, error, refetch } = useQuery(figuresQuery);
  if (data && !hasAny(data)) return null;
  return (
    <Section title={words.title}>
      <ErrorPanel error={data ? null : error} onRetry={() => void refetch()} />
      {data && <Cards of={data} />}
      {data && <Hints of={data} />}
    </Section>
  );
}

function hasAny({ placed, fulfilled, reservations, views, values }: ShopFigures): boolean {
  return [placed, fulfilled, reservations, views, ...values].some(isUsed);
}

const isUsed = ({ now, before }: Figure): boolean => now + before > 0;

function Hints({ of: { values, views, isWhole } }: { of: ShopFigures }): ReactNode {
  const hints = [
    ...(values.some(isUsed) ? [words.valueHint] : []),
    ...(isUsed(views) ? [words.viewsHint] : []),
    ...(isWhole ? [] : [words.tooMany]),
  ];
  return hints.length > 0 && <p className={styles.hint}>{hints.join(" ")}</p>;
}

/** What a shop does not use, such as a storefront, has no card. */
function Cards({ of: { placed, fulfilled, reservations, views, values } }: { of: ShopFigures }): ReactNode {
  const shown = values.slice(0, currenciesMax);
  return (
    <dl className={styles.figures}>
      <FigureCard label={words.placed} figure={placed} />
      {shown.map(({ currency, ...figure }) => (
        <ValueCard key={currency} label={shown.length === 1 ? words.value : words.valueIn(currency)} currency={currency} figure={figure} />
      ))}
      <FigureCard label={words.fulfilled} figure={fulfilled} />
      {isUsed(reservations) && (
        <FigureCard label={words.reservations} figure={reservations} more={words.lastDay(formatNumber(reservations.lastDay))} />
      )}
      {isUsed(views) && <FigureCard label={words.views} figure={views} />}
    </dl>
  );
}

function FigureCard({ label, figure: { now, before }, more }: { label: string; figure: Figure; more?: string }): ReactNode {
  const trend = now > before ? words.more(formatNumber(now - before)) : now < before ? words.fewer(formatNumber(before - now)) : words.same;
  return <Card label={label} value={formatNumber(now)} trend={trend} more={more} />;
}

function ValueCard({ label, currency, figure: { now, before } }: { label: string; currency: string; figure: Figure }): ReactNode {
  const price = (amount: number): string => formatPrice({ amount, currency });
  const trend = now > before ? words.more(price(now - before)) : now < before ? words.less(price(before - now)) : words.sameValue;
  return <Card label={label} value={price(now)} trend={trend} more={undefined} />;
}

function Card({ label, value, trend, more }: { label: string; value: string; trend: string; more: string | undefined }): ReactNode {
  return (
    <div className={styles.figure}>
      <dt>{label}</dt>
      <dd>
        <strong>{value}</strong>
        <span>{trend}</span>
        {more !== undefined && <span>{more}</span>}
      </dd>
    </div>
  );
}

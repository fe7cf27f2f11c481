import type { ReactNode } from "react";
import { formatAgo, formatMoment, formatShortMoment } from "../texts/texts.ts";
import { useNow } from "./now.ts";

/** A time (RFC 3339) in the reader's time zone; the tooltip has the full form. */
export function Moment({ at }: { at: string }): ReactNode {
  return <Time at={at} text={formatShortMoment(new Date(at))} />;
}

/** How long ago something happened (RFC 3339), for a week; then the time. The tooltip has the full form. */
export function Ago({ at }: { at: string }): ReactNode {
  const moment = new Date(at);
  return <Time at={at} text={formatAgo(useNow(60_000) - moment.getTime()) ?? formatShortMoment(moment)} />;
}

function Time({ at, text }: { at: string; text: string }): ReactNode {
  return (
    <time dateTime={at} title={formatMoment(new Date(at))}>
      {text}
    </time>
  );
}

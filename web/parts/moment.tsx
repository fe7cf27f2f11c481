import type { ReactNode } from "react";
import { formatMoment, formatShortMoment } from "../texts/texts.ts";

/** A time (RFC 3339) in the reader's time zone; the tooltip has the full form. */
export function Moment({ at }: { at: string }): ReactNode {
  const moment = new Date(at);
  return (
    <time dateTime={at} title={formatMoment(moment)}>
      {formatShortMoment(moment)}
    </time>
  );
}

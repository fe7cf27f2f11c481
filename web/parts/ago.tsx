import type { ReactNode } from "react";
import { serverNow } from "../calls/server-clock.ts";
import { formatMoment } from "../texts/texts.ts";
import { agoOf } from "./ago.ts";

/** How long ago a time (RFC 3339) is; the tooltip has the time itself. */
export function Ago({ at }: { at: string }): ReactNode {
  const moment = new Date(at);
  return (
    <time dateTime={at} title={formatMoment(moment)}>
      {agoOf(moment.getTime(), serverNow())}
    </time>
  );
}

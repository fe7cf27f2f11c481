import { Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";

/** Shown while something is loading. */
export function Waiting({ lines }: { lines: number }): ReactNode {
  return (
    <output aria-label={texts.loading}>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} height={18} mb={14} radius="sm" />
      ))}
    </output>
  );
}

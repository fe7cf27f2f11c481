import { Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";

/** Stands where something is still on its way. */
export function Waiting({ lines }: { lines: number }): ReactNode {
  return (
    <output aria-label={texts.loading}>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} height={18} mb={14} radius="sm" />
      ))}
    </output>
  );
}

import type { ReactNode } from "react";
import { formatPrice } from "./price.ts";
import { useSummary } from "./summaries.ts";

/** What a pet costs. */
export function PriceCell({ petId }: { petId: number }): ReactNode {
  const price = useSummary(petId)?.price ?? null;
  return price === null ? "–" : formatPrice(price);
}

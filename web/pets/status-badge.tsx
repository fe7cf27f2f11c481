import type { ReactNode } from "react";
import { Badge, type Tone } from "../parts/badge.tsx";
import { texts } from "../texts/texts.ts";
import type { PetStatus } from "./search.ts";

const tones: Record<PetStatus, Tone> = { available: "good", pending: "busy", sold: "plain" };

/** A status as text with a colour. */
export function StatusBadge({ status }: { status: PetStatus }): ReactNode {
  return <Badge tone={tones[status]}>{texts.store.status[status]}</Badge>;
}

import type { Schemas } from "../calls/store.ts";

export type PetStatus = Schemas["PetStatus"];

export const petStatuses: readonly PetStatus[] = ["available", "pending", "sold"];

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { usePetName } from "./queries.ts";

/** The name of a pet, as a link to it. */
export function PetLink({ petId }: { petId: number }): ReactNode {
  return (
    <Link to="/dashboard/animals/$animalId" params={{ animalId: String(petId) }}>
      {usePetName(petId)}
    </Link>
  );
}

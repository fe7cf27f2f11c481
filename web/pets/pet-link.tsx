import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useAnimalName } from "./queries.ts";

/** The name of a pet, as a link to it. */
export function AnimalLink({ petId }: { petId: number }): ReactNode {
  return (
    <Link to="/dashboard/animals" search={{ animal: petId }}>
      {useAnimalName(petId)}
    </Link>
  );
}

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useAnimalName } from "./queries.ts";

/** The name of an animal, which leads to it. */
export function AnimalLink({ petId }: { petId: number }): ReactNode {
  return (
    <Link to="/dashboard/animals" search={{ animal: petId }}>
      {useAnimalName(petId)}
    </Link>
  );
}

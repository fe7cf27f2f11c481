import type { ReactNode } from "react";
import { PawIcon } from "../frame/icons.tsx";
import { PetLink } from "./pet-link.tsx";
import { useSummary } from "./summaries.ts";
import styles from "./thumb.module.css";

type Props = { petId: number | undefined; isInField?: boolean };

/** The first photo of a pet in 40 by 40 pixels, in a field 26 by 26, or the outline of such an animal. It is decoration: the name is beside it. */
export function Thumb({ petId, isInField = false }: Props): ReactNode {
  return (
    <span className={`${styles.thumb} ${isInField ? styles.inField : ""}`}>
      {petId === undefined ? <PawIcon /> : <Picture petId={petId} />}
    </span>
  );
}

function Picture({ petId }: { petId: number }): ReactNode {
  const summary = useSummary(petId);
  if (summary === undefined) return null; // its place stays the same
  if (summary?.photo) return <img src={summary.photo.url} alt="" width={40} height={40} decoding="async" />;
  if (!summary?.outline) return <PawIcon />;
  return (
    <svg viewBox="0 0 64 64" width={30} height={30} fill="currentColor" fillRule="evenodd" aria-hidden="true">
      <path d={summary.outline} />
    </svg>
  );
}

/** A pet's picture with its name beside it. */
export function WithThumb({ petId, children }: { petId: number | undefined; children: ReactNode }): ReactNode {
  return (
    <span className={styles.beside}>
      <Thumb petId={petId} />
      <span className={styles.name}>{children}</span>
    </span>
  );
}

/** A pet's picture with its name beside it, as a link to the pet. */
export function ThumbLink({ petId }: { petId: number }): ReactNode {
  return (
    <WithThumb petId={petId}>
      <PetLink petId={petId} />
    </WithThumb>
  );
}

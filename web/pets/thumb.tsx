import type { ReactNode } from "react";
import { PawIcon } from "../frame/icons.tsx";
import { useSummary } from "./summaries.ts";
import styles from "./thumb.module.css";

/** The first photo of a pet in 40 by 40 pixels, or a paw. It is decoration: the name is beside it. */
export function Thumb({ petId }: { petId: number | undefined }): ReactNode {
  return <span className={styles.thumb}>{petId === undefined ? <PawIcon /> : <Picture petId={petId} />}</span>;
}

function Picture({ petId }: { petId: number }): ReactNode {
  const url = useSummary(petId)?.photo?.url;
  return url === undefined ? <PawIcon /> : <img src={url} alt="" width={40} height={40} decoding="async" />;
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

import { Tooltip } from "@mantine/core";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./badges.module.css";
import type { Operation } from "./description.ts";

export function MethodBadge({ method, small = true }: { method: Operation["method"]; small?: boolean }): ReactNode {
  return <span className={`${styles.method} ${styles[method]} ${small ? "" : styles.large}`}>{method}</span>;
}

/** The badge of a stability level. Its tooltip has the level's promise. */
export function StabilityBadge({ stability }: { stability: NonNullable<Operation["stability"]> }): ReactNode {
  const badge = <span className={`${styles.badge} ${styles[stability.level]}`}>{texts.reference.stability[stability.level]}</span>;
  return stability.promise === "" ? badge : <Tooltip label={stability.promise}>{badge}</Tooltip>;
}

function DeprecatedBadge(): ReactNode {
  return <span className={`${styles.badge} ${styles.deprecated}`}>{texts.reference.deprecated}</span>;
}

export function OperationBadges({ operation }: { operation: Operation }): ReactNode {
  return (
    <>
      {operation.stability && <StabilityBadge stability={operation.stability} />}
      {operation.deprecation && <DeprecatedBadge />}
    </>
  );
}

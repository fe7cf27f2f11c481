import { Tooltip, VisuallyHidden } from "@mantine/core";
import type { ReactNode } from "react";
import { referenceTexts } from "../texts/en-reference.ts";
import styles from "./badges.module.css";
import type { Operation } from "./description.ts";

export function MethodBadge({ method, small = true }: { method: Operation["method"]; small?: boolean }): ReactNode {
  return <span className={`${styles.method} ${styles[method]} ${small ? "" : styles.large}`}>{method}</span>;
}

/** A method in the navigation: a few letters in its colour, and its whole name for screen readers. */
export function MethodLetters({ method }: { method: Operation["method"] }): ReactNode {
  const letters = method === "DELETE" ? "DEL" : method;
  return (
    <span className={`${styles.letters} ${styles[method]}`}>
      <span aria-hidden={letters !== method}>{letters}</span>
      {letters !== method && <VisuallyHidden>{method}</VisuallyHidden>}
    </span>
  );
}

/** The badge of a stability level. Its tooltip has the level's promise. */
export function StabilityBadge({ stability }: { stability: NonNullable<Operation["stability"]> }): ReactNode {
  const badge = <span className={`${styles.badge} ${styles[stability.level]}`}>{referenceTexts.stability[stability.level]}</span>;
  return stability.promise === "" ? badge : <Tooltip label={stability.promise}>{badge}</Tooltip>;
}

function DeprecatedBadge(): ReactNode {
  return <span className={`${styles.badge} ${styles.deprecated}`}>{referenceTexts.deprecated}</span>;
}

/** The badges of an operation in a list; a stability that `of` its section has is shown there. */
export function OperationBadges({ operation, of }: { operation: Operation; of?: Operation["stability"] }): ReactNode {
  return (
    <>
      {operation.stability && !of && <StabilityBadge stability={operation.stability} />}
      {operation.deprecation && <DeprecatedBadge />}
    </>
  );
}

/** The stability of an operation in the navigation. */
export function StabilityDot({ stability: { level } }: { stability: NonNullable<Operation["stability"]> }): ReactNode {
  const name = referenceTexts.stability[level];
  return (
    <Tooltip label={name}>
      <span className={`${styles.dot} ${styles[level]}`}>
        <VisuallyHidden>{name}</VisuallyHidden>
      </span>
    </Tooltip>
  );
}

import type { ReactNode } from "react";
import { referenceTexts } from "../texts/en-reference.ts";
import styles from "./anchor.module.css";

/** A link to the element with this id, to follow or to copy. */
export function Anchor({ id, name }: { id: string; name: string }): ReactNode {
  return <a className={`${styles.anchor} screen-only`} href={`#${id}`} aria-label={referenceTexts.linkTo(name)} />;
}

/** Joins parts into an id for the hash of an address: `createPet`, `header` and `If-Match` give `createPet-header-If-Match`. */
export function idOf(...parts: string[]): string {
  return parts.map((part) => part.replaceAll(/[^\w.-]+/g, "-")).join("-");
}

import { Button } from "@mantine/core";
import { memo, type ReactNode } from "react";
import { Prose } from "../frame/markdown.tsx";
import { usePageTitle } from "../frame/page-title.ts";
import { referenceTexts } from "../texts/en-reference.ts";
import { useDescription } from "./context.ts";
import type { Operation } from "./description.ts";
import styles from "./everything.module.css";
import { OperationArticle } from "./operation-article.tsx";
import { useShownTarget } from "./shown-target.ts";
import { useSlices } from "./slices.ts";

/** The whole reference on one page, for printing and for the browser's search. It has no test panels. */
export function EverythingPage(): ReactNode {
  const { title, version, introduction, operations } = useDescription();
  const slices = useSlices(operations.length);
  usePageTitle(referenceTexts.everything);
  useShownTarget();
  return (
    <div className={styles.page}>
      <h1>{title}</h1>
      <p className={styles.version}>{referenceTexts.version(version)}</p>
      <p className="screen-only">
        <Button variant="default" onClick={() => print()}>
          {referenceTexts.print}
        </Button>
      </p>
      <Prose text={introduction} />
      {operations.slice(0, slices).map((operation) => (
        <Slice key={operation.id} operation={operation} />
      ))}
    </div>
  );
}

const Slice = memo(function OperationSlice({ operation }: { operation: Operation }): ReactNode {
  return (
    <section id={operation.id} className={styles.operation} aria-label={operation.summary}>
      <OperationArticle operation={operation} level={2} />
    </section>
  );
});

import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Prose } from "../frame/markdown.tsx";
import { usePageTitle } from "../frame/page-title.ts";
import { texts } from "../texts/texts.ts";
import { useDescription } from "./context.ts";
import { OperationArticle } from "./operation-article.tsx";
import styles from "./everything.module.css";
import { useShownTarget } from "./shown-target.ts";

/** The whole reference on one page, for printing and for the browser's search. It has no test panels. */
export function EverythingPage(): ReactNode {
  const { title, version, introduction, operations } = useDescription();
  usePageTitle(texts.reference.everything);
  useShownTarget();
  return (
    <div className={styles.page}>
      <h1>{title}</h1>
      <p className={styles.version}>{texts.reference.version(version)}</p>
      <p className="screen-only">
        <Button variant="default" onClick={() => print()}>
          {texts.reference.print}
        </Button>
      </p>
      <Prose text={introduction} />
      {operations.map((operation) => (
        <section key={operation.id} id={operation.id} className={styles.operation} aria-label={operation.summary}>
          <OperationArticle operation={operation} level={2} />
        </section>
      ))}
    </div>
  );
}

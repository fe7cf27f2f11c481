import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Prose } from "../frame/markdown.tsx";
import { referenceTexts, tryItTexts } from "../texts/en-reference.ts";
import { formatMomentUtc } from "../texts/texts.ts";
import { Anchor, idOf } from "./anchor.tsx";
import { Answers, FirstAnswer } from "./answers.tsx";
import { MethodBadge, StabilityBadge } from "./badges.tsx";
import { BodyDescription } from "./body.tsx";
import { useDescription } from "./context.ts";
import type { Operation } from "./description.ts";
import { Errors } from "./errors.tsx";
import styles from "./operation-article.module.css";
import { Parameters } from "./parameters.tsx";
import { Samples } from "./samples.tsx";

type Props = { operation: Operation; level: 1 | 2; panel?: ReactNode };

/**
 * An operation with everything that the description says about it. The samples and `panel` are between request and response, so that on a
 * phone nobody has to scroll past the errors to reach them. On the operation's page (level 1) a wide window has the samples in a right column.
 */
export function OperationArticle({ operation, level, panel }: Props): ReactNode {
  return (
    <article className={level === 1 ? `${styles.article} ${styles.columns}` : styles.article}>
      <div className={styles.top}>
        <div className={styles.request}>
          <Head operation={operation} level={level} hasPanel={Boolean(panel)} />
          <Parameters parameters={operation.parameters} level={level} at={operation.id} />
          {operation.body.length > 0 && <BodyDescription contents={operation.body} level={level} at={operation.id} />}
        </div>
        <div className={styles.side}>
          <Samples samples={operation.samples} level={level} id={idOf(operation.id, "samples")} />
          {level === 1 && <FirstAnswer answers={operation.answers} />}
        </div>
      </div>
      {panel && <div className={styles.panel}>{panel}</div>}
      <div className={styles.response}>
        <Answers answers={operation.answers} level={level} at={operation.id} />
        <Errors errors={operation.errors} level={level} at={operation.id} />
      </div>
    </article>
  );
}

function Head({ operation, level, hasPanel }: Pick<Props, "operation" | "level"> & { hasPanel: boolean }): ReactNode {
  const { serverUrl } = useDescription();
  const Title = `h${level}` as const;
  return (
    <>
      <p className={styles.trail}>
        {operation.group} · {operation.tag}
      </p>
      <div className={styles.titleRow}>
        <Title className={styles.title}>{operation.summary}</Title>
        {level === 2 && <Anchor id={operation.id} name={operation.summary} />}
      </div>
      <p className={styles.address}>
        <MethodBadge method={operation.method} small={false} />
        <code>
          <span className={styles.server}>{serverUrl}</span>
          {operation.path}
        </code>
        {hasPanel && (
          <a href="#try-it" className={`${styles.toPanel} screen-only`}>
            {tryItTexts.title}
          </a>
        )}
      </p>
      <Deprecation operation={operation} />
      <StabilityPromise operation={operation} />
      <Prose text={operation.description} />
    </>
  );
}

function StabilityPromise({ operation: { stability } }: { operation: Operation }): ReactNode {
  if (!stability) return null;
  return (
    <div className={styles.promise}>
      <StabilityBadge stability={{ ...stability, promise: "" }} />
      <Prose text={stability.promise} />
    </div>
  );
}

function Deprecation({ operation: { deprecation } }: { operation: Operation }): ReactNode {
  const { operations } = useDescription();
  if (!deprecation) return null;
  const successor = operations.find(({ id }) => id === deprecation.successor?.id);
  return (
    <aside className={styles.deprecation} aria-label={referenceTexts.deprecatedTitle}>
      <p className={styles.deprecationTitle}>{referenceTexts.deprecatedTitle}</p>
      {deprecation.sunset && (
        <p>
          <time dateTime={deprecation.sunset.toISOString()}>{referenceTexts.sunset(formatMomentUtc(deprecation.sunset))}</time>
        </p>
      )}
      {successor && (
        <p>
          {referenceTexts.successor}{" "}
          <Link to="/reference/$operationId" params={{ operationId: successor.id }}>
            {successor.summary}
          </Link>{" "}
          <code>{deprecation.successor?.request}</code>
        </p>
      )}
    </aside>
  );
}

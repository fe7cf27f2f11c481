import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Prose } from "../frame/markdown.tsx";
import { formatMomentUtc, texts } from "../texts/texts.ts";
import { Answers } from "./answers.tsx";
import { MethodBadge, StabilityBadge } from "./badges.tsx";
import { BodyDescription } from "./body.tsx";
import { useDescription } from "./context.ts";
import type { Operation } from "./description.ts";
import { Errors } from "./errors.tsx";
import styles from "./operation-article.module.css";
import { Parameters } from "./parameters.tsx";
import { Samples } from "./samples.tsx";

type Props = { operation: Operation; level: 1 | 2; samples?: boolean };

/** An operation with everything that the description says about it. */
export function OperationArticle({ operation, level, samples = true }: Props): ReactNode {
  const { serverUrl } = useDescription();
  const Title = `h${level}` as const;
  return (
    <article className={styles.article}>
      <p className={styles.trail}>
        {operation.group} · {operation.tag}
      </p>
      <Title className={styles.title}>{operation.summary}</Title>
      <p className={styles.address}>
        <MethodBadge method={operation.method} small={false} />
        <code>
          <span className={styles.server}>{serverUrl}</span>
          {operation.path}
        </code>
      </p>
      <Deprecation operation={operation} />
      <StabilityPromise operation={operation} />
      <Prose text={operation.description} />
      <Parameters parameters={operation.parameters} level={level} />
      {operation.body.length > 0 && <BodyDescription contents={operation.body} level={level} />}
      <Answers answers={operation.answers} level={level} />
      <Errors errors={operation.errors} level={level} />
      {samples && <Samples samples={operation.samples} level={level} />}
    </article>
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
  const successor = operations.find(({ id }) => id === deprecation.successor);
  return (
    <aside className={styles.deprecation} aria-label={texts.reference.deprecatedTitle}>
      <p className={styles.deprecationTitle}>{texts.reference.deprecatedTitle}</p>
      {deprecation.sunset && (
        <p>
          <time dateTime={deprecation.sunset.toISOString()}>{texts.reference.sunset(formatMomentUtc(deprecation.sunset))}</time>
        </p>
      )}
      {successor && (
        <p>
          {texts.reference.successor}{" "}
          <Link to="/reference/$operationId" params={{ operationId: successor.id }}>
            {successor.summary}
          </Link>
        </p>
      )}
    </aside>
  );
}

import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { CodeBlock } from "../frame/code-block.tsx";
import { Prose } from "../frame/markdown.tsx";
import { usePageTitle } from "../frame/page-title.ts";
import { referenceTexts } from "../texts/en-reference.ts";
import { texts } from "../texts/texts.ts";
import { MethodBadge, OperationBadges, StabilityBadge } from "./badges.tsx";
import { useDescription } from "./context.ts";
import type { Section } from "./description.ts";
import { readIntroduction } from "./introduction.ts";
import { absoluteUrl, descriptionUrl, yamlUrl } from "./load.ts";
import styles from "./overview.module.css";
import { QuickStart } from "./quick-start.tsx";

/** The introduction of the API and the list of operations. */
export function OverviewPage(): ReactNode {
  const { title, version, introduction, serverUrl, groups } = useDescription();
  const { lead, topics } = readIntroduction(introduction);
  usePageTitle(texts.reference);
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <h1>{title}</h1>
        <p className={styles.version}>{referenceTexts.version(version)}</p>
      </header>
      <Prose text={lead} />
      <div className={styles.address}>
        <h2>{referenceTexts.baseUrl}</h2>
        <CodeBlock code={absoluteUrl(serverUrl)} language="text" label={referenceTexts.baseUrl} />
        <p className={`${styles.downloads} screen-only`}>
          <Button component="a" href={descriptionUrl} variant="default" size="sm">
            openapi.json
          </Button>
          <Button component="a" href={yamlUrl} variant="default" size="sm">
            openapi.yaml
          </Button>
          <Button renderRoot={(props) => <Link to="/reference/all" {...props} />} variant="default" size="sm">
            {referenceTexts.everything}
          </Button>
        </p>
      </div>
      <QuickStart topics={topics} />
      {groups.map(({ name, sections }) => (
        <section key={name} aria-labelledby={`group-${name}`}>
          <h2 id={`group-${name}`} className={styles.group}>
            {name}
          </h2>
          {sections.map((section) => (
            <SectionTable key={section.tag} section={section} />
          ))}
        </section>
      ))}
    </div>
  );
}

function SectionTable({ section: { tag, description, operations, stability } }: { section: Section }): ReactNode {
  return (
    <section aria-labelledby={`tag-${tag}`} className={styles.section}>
      <div className={styles.heading}>
        <h3 id={`tag-${tag}`}>{tag}</h3>
        {stability && <StabilityBadge stability={stability} />}
      </div>
      <p className={styles.description}>{description}</p>
      <ul className={styles.operations}>
        {operations.map((operation) => (
          <li key={operation.id}>
            <Link to="/reference/$operationId" params={{ operationId: operation.id }} className={styles.operation}>
              <MethodBadge method={operation.method} />
              <span className={styles.summary}>{operation.summary}</span>
              <OperationBadges operation={operation} of={stability} />
              {operation.deprecation?.successor && (
                <span className={styles.instead}>
                  {referenceTexts.successor} <code>{operation.deprecation.successor.request}</code>
                </span>
              )}
              <code className={styles.path}>{operation.path}</code>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

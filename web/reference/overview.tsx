import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { CodeBlock } from "../frame/code-block.tsx";
import { Prose } from "../frame/markdown.tsx";
import { usePageTitle } from "../frame/page-title.ts";
import { texts } from "../texts/texts.ts";
import { MethodBadge, OperationBadges } from "./badges.tsx";
import { useDescription } from "./context.ts";
import type { Section } from "./description.ts";
import { absoluteUrl, descriptionUrl, yamlUrl } from "./load.ts";
import styles from "./overview.module.css";

/** The introduction of the API and the list of operations. */
export function OverviewPage(): ReactNode {
  const { title, version, introduction, serverUrl, groups } = useDescription();
  usePageTitle(texts.reference.page);
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <h1>{title}</h1>
        <p className={styles.version}>{texts.reference.version(version)}</p>
      </header>
      <Prose text={introduction} />
      <div className={styles.address}>
        <h2>{texts.reference.baseUrl}</h2>
        <CodeBlock code={absoluteUrl(serverUrl)} language="text" label={texts.reference.baseUrl} />
        <p className={`${styles.downloads} screen-only`}>
          <Button component="a" href={descriptionUrl} variant="default" size="sm">
            openapi.json
          </Button>
          <Button component="a" href={yamlUrl} variant="default" size="sm">
            openapi.yaml
          </Button>
          <Button renderRoot={(props) => <Link to="/reference/all" {...props} />} variant="default" size="sm">
            {texts.reference.everything}
          </Button>
        </p>
      </div>
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

function SectionTable({ section: { tag, description, operations } }: { section: Section }): ReactNode {
  return (
    <section aria-labelledby={`tag-${tag}`} className={styles.section}>
      <h3 id={`tag-${tag}`}>{tag}</h3>
      <p className={styles.description}>{description}</p>
      <ul className={styles.operations}>
        {operations.map((operation) => (
          <li key={operation.id}>
            <Link to="/reference/$operationId" params={{ operationId: operation.id }} className={styles.operation}>
              <MethodBadge method={operation.method} />
              <span className={styles.summary}>{operation.summary}</span>
              <OperationBadges operation={operation} />
              <code className={styles.path}>{operation.path}</code>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

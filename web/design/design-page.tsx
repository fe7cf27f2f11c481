import type { ReactNode } from "react";
import { CodeBlock } from "../frame/code-block.tsx";
import { Main } from "../frame/main.tsx";
import { PageHeader, Section } from "../parts/page-header.tsx";
import styles from "./design.module.css";
import { examples } from "./examples.tsx";

/** The tokens and each component once, as docs/design.md lists them. */
export function DesignPage(): ReactNode {
  const all = tokens();
  const named = (start: string) => all.filter(({ name }) => name.startsWith(start));
  const colours = all.filter(({ value }) => value.startsWith("#"));
  return (
    <Main className={styles.page}>
      <PageHeader title="Design" lead="The tokens of the pages, and each component once." />
      <Section title="Colours">
        <ul className={styles.colours}>
          {colours.map(({ name }) => (
            <li key={name}>
              <span className={styles.colour} style={{ background: `var(${name})` }} />
              <code>{name}</code>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Type">
        {named("--type-").map(({ name, value }) => (
          <p key={name} className={styles.line} style={{ fontSize: `var(${name})` }}>
            {name} <span>{value}</span>
          </p>
        ))}
      </Section>
      <Section title="Spaces">
        {named("--space-").map(({ name, value }) => (
          <p key={name} className={styles.line}>
            <span className={styles.space} style={{ width: `var(${name})` }} /> {name} <span>{value}</span>
          </p>
        ))}
      </Section>
      <Section title="Components">
        {Object.entries(examples).map(([name, Example]) => (
          <section key={name} className={styles.component} aria-label={name}>
            <h3>{name}</h3>
            <Example />
          </section>
        ))}
      </Section>
      <Section title="Code">
        <CodeBlock language="json" code={'{ "name": "Rex", "categoryId": 1 }'} label="An animal" />
      </Section>
    </Main>
  );
}

/** The tokens of web/frame/theme.css as the page has them, with their CSS values in light colours. */
function tokens(): { name: string; value: string }[] {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule instanceof CSSStyleRule);
  const style = rules.find((rule) => rule.selectorText === ":root" && rule.style.getPropertyValue("--paper") !== "")?.style;
  return [...(style ?? [])].map((name) => ({ name, value: style!.getPropertyValue(name).trim() }));
}

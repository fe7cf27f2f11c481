import type { ReactNode } from "react";
import { Prose } from "../frame/markdown.tsx";
import { texts } from "../texts/texts.ts";
import styles from "./answers.module.css";
import { Example } from "./body.tsx";
import type { Answer } from "./description.ts";
import { Field, Fields, SchemaView } from "./fields.tsx";
import { PartHeading } from "./heading.tsx";
import type { Header } from "./openapi.ts";

/** The answers to a request that goes well. */
export function Answers({ answers, level }: { answers: Answer[]; level: 1 | 2 }): ReactNode {
  return (
    <>
      <PartHeading level={level}>{texts.reference.answers}</PartHeading>
      {answers.map((answer) => (
        <div key={answer.status} className={styles.answer}>
          <div className={styles.head}>
            <span className={styles.status}>{answer.status}</span>
            <Prose text={answer.description} />
          </div>
          {answer.contents.map((content) => (
            <div key={content.type} className={styles.content}>
              {content.schema && <SchemaView schema={content.schema} />}
              {content.example !== undefined && <Example value={content.example} />}
            </div>
          ))}
          {answer.contents.length === 0 && <p className={styles.empty}>{texts.reference.noBody}</p>}
          <HeaderList headers={answer.headers} label={texts.reference.answerHeaders} />
        </div>
      ))}
    </>
  );
}

/** Folded, since most answers share most headers. */
export function HeaderList({ headers, label }: { headers: Record<string, Header>; label: string }): ReactNode {
  const entries = Object.entries(headers);
  if (entries.length === 0) return null;
  return (
    <details className={styles.headers}>
      <summary>
        {label} ({entries.length})
      </summary>
      <Fields>
        {entries.map(([name, { schema = {}, description, example }]) => (
          <Field
            key={name}
            name={name}
            schema={{ ...schema, ...(description !== undefined && { description }) }}
            required={false}
            example={example}
          />
        ))}
      </Fields>
    </details>
  );
}

import type { ReactNode } from "react";
import { Prose } from "../frame/markdown.tsx";
import { referenceTexts } from "../texts/en-reference.ts";
import { idOf } from "./anchor.tsx";
import styles from "./answers.module.css";
import { Example } from "./body.tsx";
import type { Answer } from "./description.ts";
import { Field, Fields, SchemaView } from "./fields.tsx";
import { PartHeading } from "./heading.tsx";
import type { Header } from "./openapi.ts";

/** The answers to a successful request. Their ids begin with `at`. */
export function Answers({ answers, level, at }: { answers: Answer[]; level: 1 | 2; at: string }): ReactNode {
  return (
    <>
      <PartHeading id={idOf(at, "responses")} level={level}>
        {referenceTexts.answers}
      </PartHeading>
      {answers.map((answer) => (
        <div key={answer.status} className={styles.answer}>
          <div className={styles.head}>
            <span className={styles.status}>{answer.status}</span>
            <Prose text={answer.description} />
          </div>
          {answer.contents.map((content, place) => (
            <div key={content.type} className={styles.content}>
              {content.schema && (
                <SchemaView schema={content.schema} at={idOf(at, answer.status, ...(place === 0 ? [] : [content.type]))} />
              )}
              {content.example !== undefined && (level === 2 || answer !== answers[0]) && <Example value={content.example} />}
            </div>
          ))}
          {answer.contents.length === 0 && <p className={styles.empty}>{referenceTexts.noBody}</p>}
          <HeaderList headers={answer.headers} label={referenceTexts.answerHeaders} at={idOf(at, answer.status, "header")} />
        </div>
      ))}
    </>
  );
}

/** The example of the first answer, to stand beside the request. */
export function FirstAnswer({ answers }: { answers: Answer[] }): ReactNode {
  const [first] = answers;
  const shown = first?.contents.find(({ type, example }) => example !== undefined && /[/+]json$/.test(type));
  return first && shown && <Example value={shown.example} label={referenceTexts.firstAnswer(first.status)} />;
}

/** A folded list, because most answers have the same headers. Their ids begin with `at`. */
export function HeaderList({ headers, label, at }: { headers: Record<string, Header>; label: string; at: string }): ReactNode {
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
            id={idOf(at, name)}
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

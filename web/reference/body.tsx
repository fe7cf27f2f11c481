import type { ReactNode } from "react";
import { CodeBlock } from "../frame/code-block.tsx";
import { referenceTexts } from "../texts/en-reference.ts";
import { idOf } from "./anchor.tsx";
import styles from "./body.module.css";
import type { Content } from "./description.ts";
import { SchemaView } from "./fields.tsx";
import { PartHeading } from "./heading.tsx";

/** The fields of the request body; content types with the same schema are shown once. Their ids begin with `at`. */
export function BodyDescription({ contents, level, at }: { contents: Content[]; level: 1 | 2; at: string }): ReactNode {
  const distinct = contents.filter((content, place) => contents.findIndex((other) => sameShape(other, content)) === place);
  return (
    <>
      <PartHeading id={idOf(at, "body")} level={level}>
        {referenceTexts.body}
      </PartHeading>
      {distinct.map((content, place) => (
        <div key={content.type} className={styles.content}>
          <p className={styles.types}>
            {contents
              .filter((other) => sameShape(other, content))
              .map(({ type }) => (
                <code key={type}>{type}</code>
              ))}
          </p>
          {content.schema && <SchemaView schema={content.schema} at={idOf(at, "body", ...(place === 0 ? [] : [content.type]))} />}
          {content.example !== undefined && <Example value={content.example} />}
        </div>
      ))}
    </>
  );
}

export function Example({ value, label = referenceTexts.example }: { value: unknown; label?: string }): ReactNode {
  return (
    <div className={styles.example}>
      <p className={styles.label}>{label}</p>
      <CodeBlock code={typeof value === "string" ? value : JSON.stringify(value, undefined, 2)} language="json" label={label} />
    </div>
  );
}

function sameShape(a: Content, b: Content): boolean {
  return JSON.stringify([a.schema, a.example]) === JSON.stringify([b.schema, b.example]);
}

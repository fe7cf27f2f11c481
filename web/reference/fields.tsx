import type { ReactNode } from "react";
import { Prose } from "../frame/markdown.tsx";
import { referenceTexts } from "../texts/en-reference.ts";
import { Anchor, idOf } from "./anchor.tsx";
import { useDescription } from "./context.ts";
import { nameIn, type Description } from "./description.ts";
import styles from "./fields.module.css";
import type { Schema } from "./openapi.ts";
import { constraintWords, referenceOf, typeWords } from "./schema-words.ts";

/** Bounds the depth, because schemas may contain themselves. */
const depthMax = 5;

export function Fields({ children }: { children: ReactNode }): ReactNode {
  return <ul className={styles.fields}>{children}</ul>;
}

type FieldProps = { id: string; name: string; schema: Schema; required: boolean; example?: unknown; depth?: number };

/** A named value: its type, description, constraints and inner fields. The ids of inner fields begin with `id`. */
export function Field({ id, name, schema, required, example, depth = 0 }: FieldProps): ReactNode {
  const { schemas } = useDescription();
  const resolved = resolve(schema, schemas);
  const inner = resolved.type === "array" ? resolve(resolved.items ?? {}, schemas) : resolved;
  const description = schema.description ?? resolved.description;
  return (
    <li id={id} className={styles.field}>
      <p className={styles.head}>
        <code className={styles.name}>{name}</code>
        <span className={styles.type}>{typeWords(schema)}</span>
        {required && <span className={styles.required}>{referenceTexts.required}</span>}
        {resolved.deprecated === true && <span className={styles.required}>{referenceTexts.deprecatedField}</span>}
        <Anchor id={id} name={name} />
      </p>
      {description !== undefined && description !== "" && <Prose text={description} />}
      <Notes schema={resolved} inner={inner} example={example} />
      {inner.properties && <ObjectFields schema={inner} depth={depth + 1} fieldId={(inside) => idOf(`${id}.${inside}`)} />}
    </li>
  );
}

function Notes({ schema, inner, example }: { schema: Schema; inner: Schema; example: unknown }): ReactNode {
  const constraints = constraintWords(schema);
  const values = (inner.enum ?? []).map(String);
  if (constraints.length === 0 && values.length === 0 && example === undefined) return null;
  return (
    <p className={styles.notes}>
      {values.length > 0 && (
        <span>
          {referenceTexts.constraints.oneOf}{" "}
          {values.map((value) => (
            <code key={value}>{value}</code>
          ))}
        </span>
      )}
      {constraints.map((constraint) => (
        <span key={constraint}>{constraint}</span>
      ))}
      {example !== undefined && (
        <span>
          {referenceTexts.example.toLowerCase()} <code>{typeof example === "string" ? example : JSON.stringify(example)}</code>
        </span>
      )}
    </p>
  );
}

type ObjectProps = { schema: Schema; fieldId: (name: string) => string; depth?: number };

/** The fields of an object. `fieldId` makes a field's id from its name. */
function ObjectFields({ schema, fieldId, depth = 0 }: ObjectProps): ReactNode {
  if (depth > depthMax) return <p className={styles.notes}>{referenceTexts.constraints.deeper}</p>;
  return (
    <Fields>
      {Object.entries(schema.properties ?? {}).map(([name, property]) => (
        <Field
          key={name}
          id={fieldId(name)}
          name={name}
          schema={property}
          required={schema.required?.includes(name) ?? false}
          depth={depth}
        />
      ))}
    </Fields>
  );
}

/** A schema: its type, then its fields if it has any. Their ids begin with `at`. */
export function SchemaView({ schema, at }: { schema: Schema; at: string }): ReactNode {
  const { schemas } = useDescription();
  const resolved = resolve(schema, schemas);
  const inner = resolved.type === "array" ? resolve(resolved.items ?? {}, schemas) : resolved;
  const name = typeWords(schema) === typeWords(resolved) ? typeWords(schema) : `${typeWords(schema)}, ${typeWords(resolved)}`;
  return (
    <div>
      <p className={styles.schemaName}>{name}</p>
      {inner.properties && <ObjectFields schema={inner} fieldId={(field) => idOf(at, field)} />}
    </div>
  );
}

function resolve(schema: Schema, schemas: Description["schemas"]): Schema {
  const reference = referenceOf(schema);
  return reference === undefined ? schema : (schemas[nameIn(reference)] ?? {});
}

import type { ReactNode } from "react";
import { Prose } from "../frame/markdown.tsx";
import { referenceTexts } from "../texts/en-reference.ts";
import { Anchor, idOf } from "./anchor.tsx";
import { HeaderList } from "./answers.tsx";
import { useDescription } from "./context.ts";
import type { Answer } from "./description.ts";
import styles from "./errors.module.css";
import { PartHeading } from "./heading.tsx";
import type { ErrorTable } from "./openapi.ts";

type Refusal = { status: string; code: string; meaning: string; example?: string };

/** Every refusal of the operation, by its code. Their ids begin with `at`. */
export function Errors({ errors, level, at }: { errors: Answer[]; level: 1 | 2; at: string }): ReactNode {
  const { errorTable } = useDescription();
  const refusals = errors.flatMap((answer) => refusalsOf(answer, errorTable));
  const headers = Object.fromEntries(errors.flatMap((answer) => Object.entries(answer.headers)));
  return (
    <>
      <PartHeading id={idOf(at, "errors")} level={level}>
        {referenceTexts.errors}
      </PartHeading>
      <p className={styles.lead}>{referenceTexts.errorsLead}</p>
      <RefusalTable refusals={refusals} rowId={(code) => idOf(at, "error", code)} />
      <HeaderList headers={headers} label={referenceTexts.errorHeaders} at={idOf(at, "errors", "header")} />
    </>
  );
}

/** Every error code of the API, below the guide about errors. Other pages link to a row by its id, which is the code. */
export function ErrorCodes(): ReactNode {
  const { errorTable } = useDescription();
  const refusals = Object.entries(errorTable).map(([code, { status, meaning }]) => ({ status: String(status), code, meaning }));
  return (
    <>
      <PartHeading id="codes" level={1}>
        {referenceTexts.codes}
      </PartHeading>
      <RefusalTable refusals={refusals} rowId={(code) => code} />
    </>
  );
}

function RefusalTable({ refusals, rowId }: { refusals: Refusal[]; rowId: (code: string) => string }): ReactNode {
  return (
    <div className={styles.box}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{referenceTexts.status}</th>
            <th scope="col">{referenceTexts.code}</th>
            <th scope="col">{referenceTexts.meaning}</th>
          </tr>
        </thead>
        <tbody>
          {refusals.map(({ status, code, meaning, example }) => (
            <tr key={code} id={rowId(code)}>
              <td>
                <span className={styles.status}>{status}</span>
              </td>
              <td>
                <code>{code}</code>
                {code !== "" && <Anchor id={rowId(code)} name={code} />}
              </td>
              <td>
                <Prose text={meaning} />
                {example !== undefined && <p className={styles.message}>{referenceTexts.forExample(example)}</p>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** An error answer names its examples by code. Without examples, its description is the meaning. */
function refusalsOf({ status, description, contents }: Answer, errorTable: ErrorTable): Refusal[] {
  const examples = Object.entries(contents[0]?.examples ?? {});
  if (examples.length === 0) return [{ status, code: "", meaning: description }];
  return examples.map(([code, { value }]) => {
    const { message } = value as { message?: string };
    return { status, code, meaning: errorTable[code]?.meaning ?? description, ...(message !== undefined && { example: message }) };
  });
}

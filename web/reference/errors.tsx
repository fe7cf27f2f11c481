import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { HeaderList } from "./answers.tsx";
import type { Answer } from "./description.ts";
import styles from "./errors.module.css";
import { PartHeading } from "./heading.tsx";

type Refusal = { status: string; code: string; message: string };

/** Every refusal the operation may give, by its code. */
export function Errors({ errors, level }: { errors: Answer[]; level: 1 | 2 }): ReactNode {
  const refusals = errors.flatMap(refusalsOf);
  const headers = Object.fromEntries(errors.flatMap((answer) => Object.entries(answer.headers)));
  return (
    <>
      <PartHeading level={level}>{texts.reference.errors}</PartHeading>
      <p className={styles.lead}>{texts.reference.errorsLead}</p>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{texts.reference.status}</th>
            <th scope="col">{texts.reference.code}</th>
            <th scope="col">{texts.reference.meaning}</th>
          </tr>
        </thead>
        <tbody>
          {refusals.map(({ status, code, message }) => (
            <tr key={code}>
              <td>
                <span className={styles.status}>{status}</span>
              </td>
              <td>
                <code>{code}</code>
              </td>
              <td>{message}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <HeaderList headers={headers} label={texts.reference.errorHeaders} />
    </>
  );
}

/** The examples of an error answer are named by code; without examples its description stands for all. */
function refusalsOf({ status, description, contents }: Answer): Refusal[] {
  const examples = Object.entries(contents[0]?.examples ?? {});
  if (examples.length === 0) return [{ status, code: "", message: description }];
  return examples.map(([code, { value }]) => ({ status, code, message: (value as { message?: string }).message ?? description }));
}

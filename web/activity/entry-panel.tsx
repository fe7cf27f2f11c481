import { Button, Code, Drawer } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useFocusReturn } from "../frame/focus.ts";
import { Waiting } from "../frame/waiting.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Ago } from "../parts/moment.tsx";
import { activityTexts as words } from "../texts/en-activity.ts";
import { texts } from "../texts/texts.ts";
import styles from "./activity.module.css";
import type { Names } from "./names.ts";
import { entryQuery, type Entry } from "./queries.ts";
import { fieldsOf, whatOf, whoOf, type Field } from "./words.ts";

type Props = {
  position: number;
  /** The event, if the list has it. */
  listed: Entry | undefined;
  names: Names;
  onRequest: (requestId: string) => void;
  onClose: () => void;
};

/** The panel beside the list: one event, with what it changed. */
export function EntryPanel({ position, listed, names, onRequest, onClose }: Props): ReactNode {
  useFocusReturn();
  const { data, error, refetch } = useQuery({ ...entryQuery(position), enabled: listed === undefined });
  const entry = listed ?? data;
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size={520}
      title={entry ? whatOf(entry, names) : words.details}
      closeButtonProps={{ "aria-label": texts.dashboard.close }}
    >
      <ErrorPanel error={entry === undefined ? error : null} onRetry={() => void refetch()} />
      {entry === undefined && !error && <Waiting lines={4} />}
      {entry === null && <p>{words.gone}</p>}
      {entry && <Details entry={entry} onRequest={onRequest} />}
    </Drawer>
  );
}

function Details({ entry, onRequest }: { entry: Entry; onRequest: (requestId: string) => void }): ReactNode {
  const { at, requestId } = entry;
  return (
    <>
      <dl className={styles.facts}>
        <dt>{words.who}</dt>
        <dd>{whoOf(entry)}</dd>
        <dt>{words.when}</dt>
        <dd>
          <Ago at={at} />
        </dd>
        {requestId !== null && (
          <>
            <dt>{words.requestId}</dt>
            <dd>
              <Code>{requestId}</Code>
            </dd>
          </>
        )}
      </dl>
      {requestId !== null && (
        <Button mb="lg" size="xs" variant="default" onClick={() => onRequest(requestId)}>
          {words.sameRequest}
        </Button>
      )}
      <Fields fields={fieldsOf(entry)} />
    </>
  );
}

function Fields({ fields }: { fields: Field[] }): ReactNode {
  if (fields.length === 0) return <p className={styles.quiet}>{words.noChange}</p>;
  const isChange = fields.some(({ before }) => before !== undefined);
  return (
    <table className={styles.fields}>
      <caption>{isChange ? words.changes : words.state}</caption>
      {isChange && (
        <thead>
          <tr>
            <th scope="col">{words.field}</th>
            <th scope="col">{words.before}</th>
            <th scope="col">{words.after}</th>
          </tr>
        </thead>
      )}
      <tbody>
        {fields.map(({ name, before, after }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {isChange && <td>{before}</td>}
            <td>{after}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

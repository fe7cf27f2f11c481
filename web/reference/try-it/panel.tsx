import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState, type FormEvent, type KeyboardEvent, type ReactNode } from "react";
import { tryItTexts } from "../../texts/en-reference.ts";
import { useDescription } from "../context.ts";
import type { Operation } from "../description.ts";
import { absoluteUrl } from "../load.ts";
import { BodyField } from "./body-field.tsx";
import { KeyField } from "./key-field.tsx";
import { useKey } from "./key.ts";
import styles from "./panel.module.css";
import { ParameterFields } from "./parameter-fields.tsx";
import { Curl, Failure, ReplyView } from "./reply.tsx";
import { draftOf, fieldId, missingIn, requestOf, type Request } from "./request.ts";
import { send } from "./send.ts";

/** A form that sends a real request to the service and shows the response. Its initial values are the description's example. */
export function TryItPanel({ operation }: { operation: Operation }): ReactNode {
  const { serverUrl } = useDescription();
  const { key } = useKey();
  const [draft, setDraft] = useState(() => draftOf(operation));
  const [wasSent, setWasSent] = useState(false);
  const cancel = useRef<AbortController>(undefined);
  const titleId = useId();
  const sending = useMutation({
    mutationFn: (prepared: Request) => {
      cancel.current = new AbortController();
      return send(prepared, key.trim(), cancel.current.signal);
    },
  });
  useEffect(() => () => cancel.current?.abort(), []);
  const request = requestOf(operation, absoluteUrl(serverUrl), draft);
  const missing = missingIn(operation, draft);

  function submit(event: FormEvent): void {
    event.preventDefault();
    setWasSent(true);
    if (missing.length === 0 && !sending.isPending) sending.mutate(request);
  }

  function submitFromBody(event: KeyboardEvent): void {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  }

  return (
    <section id="try-it" aria-labelledby={titleId} className={`${styles.panel} screen-only`}>
      <h2 id={titleId}>{tryItTexts.title}</h2>
      <p className={styles.real}>{tryItTexts.real}</p>
      <div className={styles.sides}>
        <form onSubmit={submit} noValidate className={styles.form}>
          <KeyField operation={operation} />
          <ParameterFields
            parameters={operation.parameters}
            values={draft.values}
            missing={wasSent ? missing.map(fieldId) : []}
            onChange={(id, value) => setDraft((before) => ({ ...before, values: { ...before.values, [id]: value } }))}
          />
          {operation.body.length > 0 && (
            <BodyField contents={operation.body} draft={draft} onChange={setDraft} onKeyDown={submitFromBody} />
          )}
          <SendButtons isSending={sending.isPending} onCancel={() => cancel.current?.abort()} />
        </form>
        <div className={styles.outcome}>
          <div aria-live="polite">
            {sending.isError && <Failure error={sending.error} />}
            {sending.data && <ReplyView reply={sending.data} operation={operation} />}
          </div>
          <Curl request={request} />
        </div>
      </div>
    </section>
  );
}

function SendButtons({ isSending, onCancel }: { isSending: boolean; onCancel: () => void }): ReactNode {
  return (
    <Group gap="sm">
      <Button type="submit" loading={isSending}>
        {tryItTexts.send}
      </Button>
      {isSending && (
        <Button variant="default" onClick={onCancel}>
          {tryItTexts.cancel}
        </Button>
      )}
    </Group>
  );
}

import { Alert, Button, Code, CopyButton, Group } from "@mantine/core";
import type { ReactNode } from "react";
import type { Detail } from "../calls/refusal.ts";
import { WarningIcon } from "../frame/icons.tsx";
import { texts } from "../texts/texts.ts";
import styles from "./error-panel.module.css";
import { explain, fieldSentence } from "./explained.ts";

type Props = { error: Error | null; /** The details to list. Default: all. */ fields?: readonly Detail[]; onRetry?: () => void };

/** An error, announced when it appears. An unexpected error shows its request id, for the operator. Renders nothing without an error. */
export function ErrorPanel({ error, fields, onRetry }: Props): ReactNode {
  if (error === null) return null;
  const { message, requestId, retryAfterSeconds, ...explained } = explain(error);
  const listed = fields ?? explained.fields;
  return (
    <Alert role="alert" color="red" variant="light" icon={<WarningIcon />} className={styles.panel}>
      {message && <p className={styles.message}>{message}</p>}
      {listed.map((field) => (
        <p key={`${field.path} ${field.message}`} className={styles.message}>
          {fieldSentence(field)}
        </p>
      ))}
      {retryAfterSeconds !== undefined && <p className={styles.message}>{texts.dashboard.retryIn(retryAfterSeconds)}</p>}
      {(onRetry ?? requestId) && (
        <Group gap="xs" mt="xs">
          {onRetry && (
            <Button size="compact-sm" variant="default" onClick={onRetry}>
              {texts.retry}
            </Button>
          )}
          {requestId && <RequestId id={requestId} />}
        </Group>
      )}
    </Alert>
  );
}

function RequestId({ id }: { id: string }): ReactNode {
  return (
    <span className={styles.requestId}>
      {texts.requestId} <Code>{id}</Code>
      <CopyButton value={id}>
        {({ copied, copy }) => (
          <Button size="compact-xs" variant="subtle" color="gray" c="inherit" onClick={copy}>
            {copied ? texts.copied : texts.copy}
          </Button>
        )}
      </CopyButton>
    </span>
  );
}

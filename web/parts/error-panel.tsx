import { Alert, Button, Code, CopyButton, Group } from "@mantine/core";
import type { ReactNode } from "react";
import { Refusal, type Detail } from "../calls/refusal.ts";
import { texts } from "../texts/texts.ts";
import styles from "./error-panel.module.css";

type Props = { error: Error | null; details?: readonly Detail[]; onRetry?: () => void };

/** An error, announced when it appears, with the request id for the operator. Renders nothing without an error. */
export function ErrorPanel({ error, details, onRetry }: Props): ReactNode {
  if (error === null) return null;
  const refusal = error instanceof Refusal ? error : undefined;
  const told = details ?? refusal?.details ?? [];
  const hint = refusal && texts.store.hints[refusal.code];
  return (
    <Alert role="alert" color="red" variant="light" title={texts.dashboard.refused} className={styles.panel}>
      <p className={styles.message}>{error.message}</p>
      {hint && <p className={styles.message}>{hint}</p>}
      {told.length > 0 && (
        <ul className={styles.details}>
          {told.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <Code>{path}</Code> {message}
            </li>
          ))}
        </ul>
      )}
      {refusal?.retryAfterSeconds !== undefined && <p className={styles.message}>{texts.dashboard.retryIn(refusal.retryAfterSeconds)}</p>}
      <Group gap="xs" mt="xs">
        {onRetry && (
          <Button size="compact-sm" variant="default" onClick={onRetry}>
            {texts.retry}
          </Button>
        )}
        {refusal?.requestId && <RequestId id={refusal.requestId} />}
      </Group>
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

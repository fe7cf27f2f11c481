import { Button, Drawer, Group } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { CodeBlock } from "../frame/code-block.tsx";
import { useFocusReturn } from "../frame/focus.ts";
import { Waiting } from "../frame/waiting.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Moment } from "../parts/moment.tsx";
import { notify, notifyError } from "../parts/notices.ts";
import { webhooksTexts as words } from "../texts/en-webhooks.ts";
import { texts } from "../texts/texts.ts";
import { DeliveryState } from "./deliveries.tsx";
import { deliveryQuery, rereadWebhooks, resend, type Delivery } from "./queries.ts";
import styles from "./webhooks.module.css";

type Props = { webhookId: number; deliveryId: number; onReplay: (after: number) => void; onClose: () => void };

/** The panel beside the list: one delivery with its facts, its request and its response. */
export function DeliveryPanel({ webhookId, deliveryId, onReplay, onClose }: Props): ReactNode {
  useFocusReturn();
  const client = useQueryClient();
  const { data: delivery, error, refetch } = useQuery(deliveryQuery(webhookId, deliveryId));
  function sendAgain(): void {
    void resend(webhookId, deliveryId)
      .then(() => notify(words.resent), notifyError)
      .then(() => rereadWebhooks(client));
  }
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size={520}
      title={words.message(deliveryId)}
      closeButtonProps={{ "aria-label": texts.dashboard.close }}
    >
      <ErrorPanel error={delivery ? null : error} onRetry={() => void refetch()} />
      {!delivery && !error && <Waiting lines={6} />}
      {delivery && (
        <>
          <Group gap="xs" mb="md">
            <Button onClick={sendAgain}>{words.resend}</Button>
            {delivery.position !== null && (
              <Button variant="default" onClick={() => onReplay((delivery.position ?? 1) - 1)}>
                {words.fromHere}
              </Button>
            )}
          </Group>
          <Facts of={delivery} />
          <Body title={words.request} text={delivery.requestBody ?? null} none={words.bodyGone} />
          <Body title={words.response} text={delivery.responseBody ?? null} none={words.emptyBody} />
        </>
      )}
    </Drawer>
  );
}

function Facts({ of: delivery }: { of: Delivery }): ReactNode {
  const { type, position, attempts, attemptedAt, durationMs, responseStatus, error, nextAttemptAt, messageId, requestId } = delivery;
  const facts: [string, ReactNode][] = [
    [words.facts.state, <DeliveryState key="state" of={delivery} />],
    [words.facts.status, responseStatus],
    [words.facts.error, error],
    [words.facts.took, durationMs === null ? null : words.ms(durationMs)],
    [words.facts.attempts, attempts],
    [words.facts.attemptedAt, attemptedAt && <Moment key="last" at={attemptedAt} />],
    [words.facts.nextAttemptAt, nextAttemptAt && <Moment key="next" at={nextAttemptAt} />],
    [words.facts.about, type],
    [words.facts.position, position],
    [words.facts.messageId, messageId],
    [words.facts.requestId, requestId],
  ];
  return (
    <dl className={styles.list}>
      {facts
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

function Body({ title, text, none }: { title: string; text: string | null; none: string }): ReactNode {
  return (
    <section aria-label={title} className={styles.body}>
      <h3>{title}</h3>
      {text === null || text === "" ? (
        <p className={styles.quiet}>{none}</p>
      ) : (
        <CodeBlock code={readable(text)} language="json" label={title} />
      )}
    </section>
  );
}

/** JSON with line breaks; other text, or JSON that was cut, as it is. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

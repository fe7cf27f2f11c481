import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { Main } from "./main.tsx";
import styles from "./message-page.module.css";
import { usePageTitle } from "./page-title.ts";

type Props = { title: string; text: string; children?: ReactNode };

/** A page that says one thing and where to go from there. */
function MessagePage({ title, text, children }: Props): ReactNode {
  usePageTitle(title);
  return (
    <Main className={styles.message}>
      <h1>{title}</h1>
      <p>{text}</p>
      {children}
    </Main>
  );
}

type NotFoundProps = { text?: string; children?: ReactNode };

/** The page for an unknown address; `children` are links to go on with. Default: the API reference. */
export function NotFoundPage({ text = texts.notFound.text, children }: NotFoundProps): ReactNode {
  return (
    <MessagePage title={texts.notFound.title} text={text}>
      {children ?? <Link to="/reference">{texts.notFound.toReference}</Link>}
    </MessagePage>
  );
}

type FailureProps = { text: string; requestId?: string | undefined; onRetry: () => void };

/** What is shown where what a page needs could not be loaded; `requestId` finds it in the service's log. */
export function FailurePage({ text, requestId, onRetry }: FailureProps): ReactNode {
  return (
    <MessagePage title={texts.failure.title} text={text}>
      {requestId !== undefined && (
        <p>
          {texts.requestId} <code>{requestId}</code>
        </p>
      )}
      <Button onClick={onRetry}>{texts.retry}</Button>
    </MessagePage>
  );
}

/** What is shown where a page broke, or its code could not be loaded: only a reload surely begins anew. */
export function BrokenPage({ error }: { error: unknown }): ReactNode {
  return <FailurePage text={error instanceof Error ? error.message : String(error)} onRetry={() => location.reload()} />;
}

import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { Main } from "./main.tsx";
import styles from "./message-page.module.css";
import { usePageTitle } from "./page-title.ts";

type Props = { title: string; text: string; children?: ReactNode };

/** A page with one message and links to go on with. */
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

/** The page shown when its data could not be loaded; `requestId` finds the error in the service's log. */
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

/** The page shown when a page threw an error or its code could not be loaded; it offers a reload. The browser's console has the error. */
export function BrokenPage(): ReactNode {
  return <FailurePage text={texts.failure.broken} onRetry={() => location.reload()} />;
}

import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./message-page.module.css";
import { usePageTitle } from "./page-title.ts";

type Props = { title: string; text: string; children?: ReactNode };

/** A page that says one thing and where to go from there. */
export function MessagePage({ title, text, children }: Props): ReactNode {
  usePageTitle(title);
  return (
    <div className={styles.message}>
      <h1>{title}</h1>
      <p>{text}</p>
      {children}
    </div>
  );
}

/** An address that leads nowhere. */
export function NotFoundPage({ text = texts.notFound.text }: { text?: string }): ReactNode {
  return (
    <MessagePage title={texts.notFound.title} text={text}>
      <Link to="/reference">{texts.notFound.toReference}</Link>
    </MessagePage>
  );
}

/** What is shown where a page broke, or what it needs could not be loaded. */
export function FailurePage({ text, onRetry }: { text: string; onRetry: () => void }): ReactNode {
  return (
    <MessagePage title={texts.failure.title} text={text}>
      <Button onClick={onRetry}>{texts.retry}</Button>
    </MessagePage>
  );
}

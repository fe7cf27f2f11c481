import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import styles from "./message-page.module.css";
import { usePageTitle } from "./page-title.ts";

type Props = { title: string; text: string; isPart?: boolean; children?: ReactNode };

/** A page that says one thing and where to go from there; `isPart` where a page stands around it. */
export function MessagePage({ title, text, isPart = false, children }: Props): ReactNode {
  usePageTitle(title);
  const Tag = isPart ? "div" : "main";
  return (
    <Tag id={isPart ? undefined : "content"} className={styles.message} tabIndex={-1}>
      <h1>{title}</h1>
      <p>{text}</p>
      {children}
    </Tag>
  );
}

type NotFoundProps = { text?: string; isPart?: boolean; children?: ReactNode };

/** An address that leads nowhere; `children` lead on, to the API reference unless told. */
export function NotFoundPage({ text = texts.notFound.text, isPart = false, children }: NotFoundProps): ReactNode {
  return (
    <MessagePage title={texts.notFound.title} text={text} isPart={isPart}>
      {children ?? <Link to="/reference">{texts.notFound.toReference}</Link>}
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

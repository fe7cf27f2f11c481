import { useLocation, useParams } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode } from "react";
import { Prose } from "../frame/markdown.tsx";
import { NotFoundPage } from "../frame/message-page.tsx";
import { usePageTitle } from "../frame/page-title.ts";
import { ErrorCodes } from "./errors.tsx";
import { guides, type Guide } from "./guides.ts";
import styles from "./everything.module.css";

/** The page of one guide. */
export function GuidePage(): ReactNode {
  const { name } = useParams({ strict: false });
  const guide = guides.find((each) => each.name === name);
  return guide ? <GuideText guide={guide} /> : <NotFoundPage />;
}

function GuideText({ guide: { name, title, text } }: { guide: Guide }): ReactNode {
  usePageTitle(title);
  const article = useRef<HTMLElement>(null);
  const { hash } = useLocation();
  useEffect(() => {
    const row = lineOf(/^status-(\d{3})$/.exec(hash)?.[1], article.current);
    row?.setAttribute("tabindex", "-1");
    row?.focus();
    row?.scrollIntoView({ block: "center" });
  }, [hash]);
  return (
    <article ref={article} className={styles.page}>
      <h1>{title}</h1>
      <Prose text={text} />
      {name === "errors" && <ErrorCodes />}
    </article>
  );
}

/** The row of a guide's table that begins with this status, perhaps beside others: "400 and 422". */
function lineOf(status: string | undefined, article: HTMLElement | null): HTMLElement | undefined {
  if (status === undefined || !article) return undefined;
  return [...article.querySelectorAll<HTMLTableRowElement>("tbody tr")].find((row) => row.cells[0]?.textContent.includes(status));
}

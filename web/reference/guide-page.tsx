import { useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Prose } from "../frame/markdown.tsx";
import { NotFoundPage } from "../frame/message-page.tsx";
import { usePageTitle } from "../frame/page-title.ts";
import { ErrorCodes } from "./errors.tsx";
import styles from "./everything.module.css";
import { guides, type Guide } from "./guides.ts";
import { useShownTarget } from "./shown-target.ts";

/** The page of one guide. */
export function GuidePage(): ReactNode {
  const { name } = useParams({ strict: false });
  const guide = guides.find((each) => each.name === name);
  return guide ? <GuideText guide={guide} /> : <NotFoundPage />;
}

function GuideText({ guide: { name, title, text } }: { guide: Guide }): ReactNode {
  usePageTitle(title);
  useShownTarget();
  return (
    <article className={`${styles.page} ${styles.guide}`}>
      <h1>{title}</h1>
      <Prose text={text} />
      {name === "errors" && <ErrorCodes />}
    </article>
  );
}

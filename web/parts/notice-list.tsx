import { Button, CloseButton } from "@mantine/core";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { useFocusReturn } from "../frame/focus.ts";
import { CheckIcon, WarningIcon } from "../frame/icons.tsx";
import { texts } from "../texts/texts.ts";
import { errorLine } from "./error-line.ts";
import styles from "./notice-list.module.css";
import { dismiss, useNotices, type Notice } from "./notices.ts";

const shownMs = 6_000;
/** For failures, and for notices with an undo button. */
const shownLongMs = 12_000;

/**
 * Shows and announces notices, the latest on top. They are beside the page's header, which dialogs and panels never cover. A notice
 * disappears after a few seconds, but not while the pointer or the focus is on it, or while its undo runs.
 */
export function NoticeList(): ReactNode {
  const notices = useNotices();
  return (
    <section className={`${styles.list} screen-only`} aria-label={texts.dashboard.notices} aria-live="polite">
      {notices.map((notice) => (
        <NoticeCard key={notice.id} {...notice} />
      ))}
    </section>
  );
}

function NoticeCard({ id, text, isFailure: isOfFailure = false, undo, stays = false }: Notice): ReactNode {
  const [held, setHeld] = useState(false);
  const [progress, setProgress] = useState<string>();
  const [failure, setFailure] = useState<string>();
  const isRunning = progress !== undefined;
  const isFailure = isOfFailure || failure !== undefined;
  const hasFocus = useRef(false);
  useFocusReturn(hasFocus);
  useEffect(() => {
    if (held || isRunning || stays) return;
    const timer = setTimeout(() => dismiss(id), undo || isFailure ? shownLongMs : shownMs);
    return () => clearTimeout(timer);
  }, [id, undo, isFailure, held, isRunning, stays]);

  function focus(isWithin: boolean): void {
    hasFocus.current = isWithin;
    setHeld(isWithin);
  }
  async function takeBack(): Promise<void> {
    setFailure(undefined);
    setProgress(text);
    try {
      await undo?.(setProgress);
      dismiss(id);
    } catch (error) {
      setFailure(errorLine(error));
      setProgress(undefined);
    }
  }
  return (
    <div
      className={styles.notice}
      data-failure={isFailure}
      role={isFailure ? "alert" : undefined}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => focus(true)}
      onBlur={() => focus(false)}
    >
      {isFailure ? <WarningIcon /> : <CheckIcon />}
      <span className={styles.text}>{failure ?? progress ?? text}</span>
      {undo && (
        <Button size="compact-sm" variant="default" loading={isRunning} onClick={() => void takeBack()}>
          {failure === undefined ? texts.dashboard.undo : texts.retry}
        </Button>
      )}
      <CloseButton size="sm" aria-label={texts.dashboard.dismiss} onClick={() => dismiss(id)} />
    </div>
  );
}

import { Button, CloseButton } from "@mantine/core";
import { useEffect, useState, type ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { dismiss, notifyError, useNotices, type Notice } from "./notices.ts";
import styles from "./notice-list.module.css";

const shownMs = 6_000;
const shownWithUndoMs = 12_000;

/** Shows and announces notices. They disappear after a while, but not while the pointer or the focus is on one. */
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

function NoticeCard({ id, text, undo }: Notice): ReactNode {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(() => dismiss(id), undo ? shownWithUndoMs : shownMs);
    return () => clearTimeout(timer);
  }, [id, undo, held]);

  async function takeBack(): Promise<void> {
    dismiss(id);
    await undo?.().catch(notifyError);
  }
  return (
    <div
      className={styles.notice}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span className={styles.text}>{text}</span>
      {undo && (
        <Button size="compact-sm" variant="default" onClick={() => void takeBack()}>
          {texts.dashboard.undo}
        </Button>
      )}
      <CloseButton size="sm" aria-label={texts.dashboard.dismiss} onClick={() => dismiss(id)} />
    </div>
  );
}

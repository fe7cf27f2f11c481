import { useState, type DragEvent, type ReactNode } from "react";
import styles from "./drop-zone.module.css";

type DropZoneProps = { title: string; onDrop: (dropped: DataTransfer) => void; children: ReactNode };

/** A place to drop files. `children`: the buttons that choose files instead, and which files are allowed. */
export function DropZone({ title, onDrop, children }: DropZoneProps): ReactNode {
  const [isOver, setOver] = useState(false);
  function onDragOver(event: DragEvent): void {
    event.preventDefault();
    setOver(true);
  }
  function take(event: DragEvent): void {
    event.preventDefault();
    setOver(false);
    onDrop(event.dataTransfer);
  }
  return (
    <div className={styles.drop} data-over={isOver} onDragOver={onDragOver} onDragLeave={() => setOver(false)} onDrop={take}>
      <p className={styles.title}>{title}</p>
      {children}
    </div>
  );
}

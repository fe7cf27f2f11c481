import { useSyncExternalStore } from "react";
import { errorLine } from "./error-line.ts";

/** Something that has happened, told in passing. */
export type Notice = { id: number; text: string; undo?: () => Promise<void> };

const shownMax = 4;

let notices: readonly Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

/** Tells what has just been done. With `undo` there is a button that takes it back; its refusal is told as a notice too. */
export function notify(text: string, { undo }: { undo?: () => Promise<void> } = {}): void {
  lastId += 1;
  change([...notices, { id: lastId, text, ...(undo && { undo }) }].slice(-shownMax));
}

/** Tells what did not work, where there is no place beside it. */
export function notifyError(error: unknown): void {
  notify(errorLine(error));
}

export function dismiss(id: number): void {
  change(notices.filter((notice) => notice.id !== id));
}

export function useNotices(): readonly Notice[] {
  return useSyncExternalStore(subscribe, () => notices);
}

function change(to: readonly Notice[]): void {
  notices = to;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

import { useSyncExternalStore } from "react";
import { errorLine } from "./error-line.ts";

/** A short message about something that has happened. */
export type Notice = { id: number; text: string; isFailure?: boolean; undo?: () => Promise<void> };

const shownMax = 4;

let notices: readonly Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

/** Shows a notice. With `undo`, it has a button that reverses the action; if that fails, another notice says so. */
export function notify(text: string, more: Omit<Notice, "id" | "text"> = {}): void {
  lastId += 1;
  change([...notices, { id: lastId, text, ...more }].slice(-shownMax));
}

/** Shows a failure as a notice, for actions that have no place for an error. */
export function notifyError(error: unknown): void {
  notify(errorLine(error), { isFailure: true });
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

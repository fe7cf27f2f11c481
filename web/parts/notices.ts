import { useSyncExternalStore } from "react";
import { errorLine } from "./error-line.ts";

/** A short message about something that has happened. */
export type Notice = {
  id: number;
  text: string;
  isFailure?: boolean;
  /** Takes the action back, and reports how far it is. After a failure it can be called again. */
  undo?: (report: (text: string) => void) => Promise<void>;
  /** Whether the notice stays until somebody closes it. */
  stays?: boolean;
};

/** The most notices of either kind: those that stay and the others. */
const shownMax = 4;

let notices: readonly Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

/** Shows a notice. With `undo`, it has a button that reverses the action; if that fails, the notice says so, and the button tries again. */
export function notify(text: string, more: Omit<Notice, "id" | "text"> = {}): void {
  lastId += 1;
  const all: Notice[] = [...notices, { id: lastId, text, ...more }];
  const kept = new Set([true, false].flatMap((stays) => all.filter((notice) => (notice.stays ?? false) === stays).slice(-shownMax)));
  change(all.filter((notice) => kept.has(notice)));
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

import { useSyncExternalStore } from "react";

const storageName = "petstore-reference-key";

type Kept = { key: string; isKept: boolean };

let current: Kept = read();
const listeners = new Set<() => void>();

/** The key that the panels send: in memory, and on request in session storage, until the tab is closed. */
export function useKey(): Kept & { change: (next: Kept) => void } {
  return { ...useSyncExternalStore(subscribe, () => current), change };
}

function change(next: Kept): void {
  current = next;
  try {
    if (next.isKept && next.key !== "") sessionStorage.setItem(storageName, next.key);
    else sessionStorage.removeItem(storageName);
  } catch {
    // storage may be turned off: the key is then in memory alone
  }
  for (const listener of listeners) listener();
}

function read(): Kept {
  try {
    const key = sessionStorage.getItem(storageName);
    return { key: key ?? "", isKept: key !== null };
  } catch {
    return { key: "", isKept: false };
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

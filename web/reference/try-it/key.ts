import { useSyncExternalStore } from "react";

const storageName = "petstore-reference-key";

/** What a key that was made for the panels may do, and how long. */
export type Made = { scopes: readonly string[]; expiresAt: Date; lifetimeMs: number };
type Kept = { key: string; isKept: boolean; /** Undefined for a key that was typed. */ made?: Made };

let current: Kept = read();
let expiry: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** The key that the panels send: in memory, and on request in session storage, until the tab is closed. A made key is in memory alone. */
export function useKey(): Kept & { change: (next: Omit<Kept, "made">) => void; takeMade: (key: string, made: Made) => void } {
  return { ...useSyncExternalStore(subscribe, () => current), change, takeMade };
}

function change(next: Kept): void {
  clearTimeout(expiry);
  current = next;
  try {
    if (next.isKept && next.key !== "") sessionStorage.setItem(storageName, next.key);
    else sessionStorage.removeItem(storageName);
  } catch {
    // storage may be turned off: the key is then in memory alone
  }
  for (const listener of listeners) listener();
}

/** Sends a made key from now on, until it expires. */
function takeMade(key: string, made: Made): void {
  change({ key, isKept: false, made });
  expiry = setTimeout(() => change({ key: "", isKept: false }), made.lifetimeMs);
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

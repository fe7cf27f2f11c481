import { useSyncExternalStore } from "react";

const storageName = "petstore-reference-key";

/** The scopes and the lifetime of a key that was created for the panels. */
export type Made = { scopes: readonly string[]; expiresAt: Date; lifetimeMs: number };
type Kept = { key: string; isKept: boolean; /** Undefined for a key that was typed. */ made?: Made };

let current: Kept = read();
let expiry: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** The key that the panels send. It is in memory, and a typed one on request in session storage, until the tab is closed. */
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
    // storage may be disabled: then the key is in memory only
  }
  for (const listener of listeners) listener();
}

/** Uses a created key until it expires. */
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

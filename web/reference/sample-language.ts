import { useSyncExternalStore } from "react";

let language = "";
const listeners = new Set<() => void>();

/** The chosen sample language, kept while the page is open. Default: the first of `labels`. */
export function useSampleLanguage(labels: string[]): [string, (label: string) => void] {
  const chosen = useSyncExternalStore(subscribe, () => language);
  return [labels.includes(chosen) ? chosen : (labels[0] ?? ""), choose];
}

function choose(label: string): void {
  language = label;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

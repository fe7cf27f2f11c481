/** The accounts whose logs have new events, or `any` if events may have been appended to any log. */
export type AppendedTo = readonly number[] | "any";

export type Feed = {
  /**
   * Calls the listener, on every node, after events were appended. A call may come late or twice, and one call may stand for many
   * events, so a listener reads the log from the position that it has reached. Returns a function that removes the listener.
   */
  onAppended(listener: (accounts: AppendedTo) => void): () => void;
};

/** The feed of this process, and the function that reports new events to its listeners. */
export function openFeed(): Feed & { report: (accounts: AppendedTo) => void } {
  const listeners = new Set<(accounts: AppendedTo) => void>();
  return {
    onAppended(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    report(accounts) {
      for (const listener of listeners) listener(accounts);
    },
  };
}

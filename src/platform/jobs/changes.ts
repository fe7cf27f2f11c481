/** What has changed for those who keep it in memory: everything of an account, a project, or one host name. */
export type Change = { accountId: number } | { accountId: number; projectId: number } | { hostname: string };

/** Tells every live node of a change that is committed. */
export type Changes = {
  /** Resolves when every node that listens has taken the change in; rejects where one could not. */
  announce: (change: Change) => Promise<void>;
  listen: (hear: (change: Change) => Promise<void>) => void;
};

/** The changes of a single process, as with the embedded database. */
export function openLocalChanges(): Changes {
  const listeners: ((change: Change) => Promise<void>)[] = [];
  return {
    announce: async (change) => void (await Promise.all(listeners.map((hear) => hear(change)))),
    listen: (hear) => void listeners.push(hear),
  };
}

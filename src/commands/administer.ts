import type { Administration } from "../administration.ts";
import { loadSettings } from "../settings.ts";

/** How often a busy folder is tried, a second each. */
const attemptsMax = 5;

type Answer<K extends keyof Administration> = Awaited<ReturnType<Administration[K]>>;

/**
 * Runs one operation of an operator: by the server that holds the data folder, so that it knows at once, else on the
 * folder itself, held meanwhile.
 *
 * @throws the Problem that refuses it; FolderHeldError if the folder stays busy and nobody answers for it
 */
export async function administer<K extends keyof Administration>(name: K, input: object): Promise<Answer<K>> {
  const settings = loadSettings();
  const { callSocket, NobodyListensError } = await import("../platform/socket.ts");
  const { openStorage, socketPath } = await import("../storage.ts");
  const { FolderHeldError } = await import("../platform/lock.ts");

  for (let attempt = 1; ; attempt++) {
    try {
      return (await callSocket(socketPath(settings), name, input)) as Answer<K>;
    } catch (error) {
      if (!(error instanceof NobodyListensError)) throw error;
    }
    try {
      return await administerHere(settings, name, input);
    } catch (error) {
      // A server that is starting holds the folder a moment before it listens.
      if (!(error instanceof FolderHeldError) || attempt === attemptsMax) throw error;
    }
  }

  async function administerHere(here: typeof settings, operation: K, given: object): Promise<Answer<K>> {
    const { openAdministration } = await import("../administration.ts");
    const { systemClock } = await import("../platform/clock.ts");
    const storage = await openStorage(here, `petstore ${operation}`, 1_000);
    try {
      const nothingKept = { forgetAccount() {}, forgetKey() {} };
      const administration = openAdministration({ db: storage.db, clock: systemClock, verifier: nothingKept, announce: async () => {} });
      return (await administration[operation](given)) as Answer<K>;
    } finally {
      await storage.close();
    }
  }
}

import type { Administration } from "../app/administration.ts";
import { loadSettings, type Settings } from "../app/settings.ts";
import type { Io } from "./command.ts";

/** Attempts to open a busy folder, one second each. */
const attemptsMax = 5;

type Answer<K extends keyof Administration> = Awaited<ReturnType<Administration[K]>>;

/**
 * Runs an operator's operation: in the server that holds the data folder, so that its caches stay correct, else on the folder
 * itself, which is locked meanwhile.
 *
 * @throws Problem of the operation; FolderHeldError if the folder stays locked and no server answers
 */
export async function administer<K extends keyof Administration>({ env }: Io, name: K, input: object): Promise<Answer<K>> {
  const settings = loadSettings(env);
  const { callSocket, NobodyListensError } = await import("../platform/socket.ts");
  const { openStorage, socketPath } = await import("../app/storage.ts");
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
      // A starting server locks the folder shortly before it listens.
      if (!(error instanceof FolderHeldError) || attempt === attemptsMax) throw error;
    }
  }

  async function administerHere(here: typeof settings, operation: K, given: object): Promise<Answer<K>> {
    const { openAdministration } = await import("../app/administration.ts");
    const { systemClock } = await import("../platform/clock.ts");
    await using opened = new AsyncDisposableStack();
    const storage = opened.adopt(await openStorage(here, `petstore ${operation}`, 1_000), ({ close }) => close());
    const { noOtherNodes, openAnnouncer } = await import("../platform/nodes/nodes.ts");
    const announcer = storage.db.engine === "sqlite" ? noOtherNodes : openAnnouncer({ db: storage.db });
    const nothingKept = { forgetAccount() {}, forgetKey() {} };
    const limiter = { unban: (keyId: number) => unbanIn(here, keyId) };
    const administration = openAdministration({
      db: storage.db,
      clock: systemClock,
      verifier: nothingKept,
      limiter,
      announcer,
      publicUrl: here.publicUrl,
      ports: here,
    });
    return (await administration[operation](given)) as Answer<K>;
  }
}

/** Ends a ban while no server is running: in the data folder or in Redis. */
async function unbanIn(settings: Settings, keyId: number): Promise<boolean> {
  const { openLimiter } = await import("../app/limiter.ts");
  const { systemClock } = await import("../platform/clock.ts");
  await using opened = new AsyncDisposableStack();
  const log = { info() {}, warn() {} };
  const counting = opened.adopt(await openLimiter(settings, { clock: systemClock, log }), (open) => open.close());
  return await counting.limiter.unban(keyId);
}

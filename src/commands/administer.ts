import type { Administration } from "../administration/administration.ts";
import { isSet, loadSettings, type Settings } from "../app/settings.ts";
import type { Io } from "./command.ts";

/** Operations that may begin a new store; all others need one that exists. */
const creating = new Set<keyof Administration>(["accounts.create"]);
/** Operations whose answer has a URL that begins with `PUBLIC_URL`. */
const linking = new Set<keyof Administration>(["members.invite", "members.reset", "service.describe"]);
/** Attempts to open a busy folder, one second each. */
const attemptsMax = 5;

type Answer<K extends keyof Administration> = Awaited<ReturnType<Administration[K]>>;

/** Runs an operator's operation. */
export type Call = <K extends keyof Administration>(name: K, input: object) => Promise<Answer<K>>;

/**
 * Runs an operator's operation: in the server that holds the data folder, so that its caches stay correct, else on the folder
 * itself, which is locked meanwhile.
 *
 * @throws Problem of the operation; FolderHeldError if the folder stays locked and no server answers
 */
export async function administer<K extends keyof Administration>(io: Io, name: K, input: object): Promise<Answer<K>> {
  return withAdministration(io, `petstore ${name}`, (call) => call(name, input), { mayBegin: creating.has(name) });
}

/**
 * Runs several operations, each as `administer` does; the folder, once locked, stays so until the end. If the server stops between two
 * of them, the next ones run on the folder.
 *
 * @param who names this process in the error of another one that finds the folder locked
 * @param options.mayBegin whether a new store may be begun. Default: false, so that no command creates a folder in order to read
 */
export async function withAdministration<R>(
  { env, stderr }: Io,
  who: string,
  work: (call: Call) => Promise<R>,
  { mayBegin = false }: { mayBegin?: boolean } = {},
): Promise<R> {
  const settings = loadSettings(env);
  const { callSocket, NobodyListensError } = await import("../platform/socket.ts");
  const { socketPath } = await import("../app/storage.ts");
  const { FolderHeldError } = await import("../platform/lock.ts");
  await using opened = new AsyncDisposableStack();
  let here: Administration | undefined;

  const call: Call = async <K extends keyof Administration>(name: K, input: object): Promise<Answer<K>> => {
    for (let attempt = 1; here === undefined; attempt++) {
      try {
        return (await callSocket(socketPath(settings), name, input)) as Answer<K>;
      } catch (error) {
        if (!(error instanceof NobodyListensError)) throw error;
      }
      try {
        here = await openHere(settings, who, opened, !mayBegin);
      } catch (error) {
        // A starting server locks the folder shortly before it listens.
        if (!(error instanceof FolderHeldError) || attempt === attemptsMax) throw error;
      }
    }
    const answer = (await here[name](input)) as Answer<K>;
    if (linking.has(name) && !isSet("PUBLIC_URL", env))
      stderr.write(`petstore: PUBLIC_URL is not set, so the address begins with ${settings.publicUrl}: set it as the service has it\n`);
    return answer;
  };
  return await work(call);
}

/** Opens the operations on the data folder itself, until `opened` is disposed of. */
async function openHere(settings: Settings, who: string, opened: AsyncDisposableStack, mustExist: boolean): Promise<Administration> {
  const { openStorage } = await import("../app/storage.ts");
  const { openAdministration } = await import("../administration/administration.ts");
  const { openSecrets } = await import("../administration/secrets-file.ts");
  const { systemClock } = await import("../platform/clock.ts");
  const { noOtherNodes, openAnnouncer } = await import("../platform/nodes/nodes.ts");
  const { db } = opened.adopt(await openStorage(settings, who, 1_000, { mustExist }), ({ close }) => close());
  const announcer = db.engine === "sqlite" ? noOtherNodes : openAnnouncer(db);
  const nothingKept = { forgetAccount() {}, forgetKey() {} };
  const limiter = { unban: async (keyId: number) => (await import("../app/limiter.ts")).unbanIn(settings, keyId) };
  let secrets: ReturnType<typeof openSecrets> | undefined;
  return openAdministration({
    db,
    clock: systemClock,
    verifier: nothingKept,
    limiter,
    announcer,
    publicUrl: settings.publicUrl,
    directoryUrl: settings.acmeDirectoryUrl,
    ports: settings,
    secrets: () => (secrets ??= openSecrets(settings)),
  });
}

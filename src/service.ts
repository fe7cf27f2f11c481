import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { openAdministration, type Administration } from "./administration.ts";
import { openApi } from "./api.ts";
import { quotaOf } from "./callers/accounts/accounts.ts";
import { openGate } from "./callers/gate.ts";
import { openKeyVerifier } from "./callers/keys/verify.ts";
import { openMemoryLimiter } from "./callers/limits/memory.ts";
import { openStateFile } from "./callers/limits/state-file.ts";
import type { Clock } from "./platform/clock.ts";
import type { Database } from "./platform/db/database.ts";
import { forgetOldAnswers } from "./platform/http/idempotency.store.ts";
import { repeat } from "./platform/jobs/repeat.ts";
import { openLocalChanges } from "./platform/jobs/changes.ts";
import type { Logger } from "./platform/log.ts";
import { openSocket } from "./platform/socket.ts";
import type { Settings } from "./settings.ts";
import { openPublishing, type Publishing } from "./publishing.ts";
import { openStorage, socketPath } from "./storage.ts";

const lockWaitMs = 2_000;
const limitsEveryMs = 1_000;
const cleanEveryMs = 60_000;
/** What is in flight may take this long once a stop was asked for. */
const stopMs = 10_000;

export type Service = {
  app: FastifyInstance;
  db: Database;
  administration: Administration;
  publishing: Publishing;
  /** Where it listens, as `http://127.0.0.1:8080`. */
  address: string;
  /** Finishes what is in flight, then lets everything go. */
  close(): Promise<void>;
};

/**
 * The composition root: settings → parts → listen → stop. The only place that knows every part.
 *
 * @throws when the folder is held by another process, newer than this program, or the port is taken
 */
export async function openService(settings: Settings, { clock, log }: { clock: Clock; log: Logger }): Promise<Service> {
  const onError = (error: unknown): void => log.error({ err: error }, "background work failed");
  const storage = await openStorage(settings, "petstore serve", lockWaitMs, clock);
  const { db } = storage;
  const verifier = openKeyVerifier({ db, clock, onError });
  const limiter = openMemoryLimiter({ clock, addressQuota: quotaOf({ plan: "free", perMinute: null, perDay: null }) });
  const counters = openStateFile(join(settings.dataDir, "limits.state"), limiter);
  await counters.load();
  const changes = openLocalChanges();
  const administration = openAdministration({ db, clock, verifier, announce: changes.announce });
  let ready = false;
  const gate = openGate({ verifier, limiter });
  const { getPetSunset, trustedProxies } = settings;
  let app: FastifyInstance | undefined;
  let publishing: Publishing | undefined;
  let socket: Awaited<ReturnType<typeof openSocket>> | undefined;
  try {
    const wing = openPublishing({ settings, db, clock, log, changes });
    publishing = wing;
    await wing.start();
    const { operations } = wing;
    const api = openApi({ db, clock, gate, limiter, log, getPetSunset, trustedProxies, publishing: operations, ready: () => ready });
    app = api;
    socket = await openSocket(socketPath(settings), administration, onError);
    const address = await api.listen({ port: settings.port, host: settings.host });
    ready = true;
    const jobs = [
      repeat(limitsEveryMs, async () => (limiter.sweep(), counters.save()), onError),
      repeat(cleanEveryMs, () => db.write((tx) => forgetOldAnswers(tx, clock())), onError),
    ];
    const close = async (): Promise<void> => {
      ready = false;
      const impatient = setTimeout(() => api.server.closeAllConnections(), stopMs);
      await Promise.all([api.close(), wing.close(), socket?.close(), ...jobs.map((job) => job.stop())]);
      clearTimeout(impatient);
      await counters.save();
      await verifier.close();
      await storage.close();
    };
    return { app: api, db, administration, publishing: wing, address, close };
  } catch (error) {
    await Promise.all([app?.close(), publishing?.close(), socket?.close()]);
    await verifier.close();
    await storage.close();
    throw error;
  }
}

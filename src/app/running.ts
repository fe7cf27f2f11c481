import { passkeyWarning } from "../callers/members/passkeys.store.ts";
import type { App } from "../platform/http/app.ts";
import type { Node } from "../platform/nodes/nodes.ts";
import { stopping } from "../platform/db/turns.ts";
import type { Logger } from "../platform/log.ts";
import type { Publishing } from "./publishing.ts";
import type { Settings } from "./settings.ts";
import type { Storage } from "./storage.ts";
import type { Webhooks } from "./webhooks.ts";

/** The parts that change while the service runs. */
export type State = {
  isReady: boolean;
  isDraining: boolean;
  isClosing: boolean;
  /** Resolves when the publishing wing has started; undefined before it begins to. */
  publishingStarts: Promise<void> | undefined;
  /** The functions that stop the work in progress; they run at the same time. */
  stops: (() => Promise<unknown>)[];
};

/** Starts the publishing wing and the delivery of webhooks when the database is ready; resolves when the service takes requests. */
export async function startWings(
  { storage, settings, options }: { storage: Storage; settings: Pick<Settings, "publicUrl">; options: { log: Logger } },
  node: Node,
  { publishing, webhooks }: { publishing: Publishing; webhooks: Pick<Webhooks, "engine"> },
  app: App,
  state: State,
): Promise<void> {
  await storage.ready;
  await node.heartbeat();
  if (state.isClosing) throw stopping();
  state.publishingStarts = publishing.start(app.server);
  await state.publishingStarts;
  await webhooks.engine.start();
  const line = await passkeyWarning(storage.db, settings.publicUrl);
  if (line !== undefined) options.log.warn(line);
  state.isReady = !state.isClosing;
}

/** Closes the publishing wing, once it is open. */
export async function closePublishing(publishing: Publishing, { publishingStarts }: State): Promise<void> {
  await publishingStarts?.catch(() => undefined); // callers that await `ready` see the error
  await publishing.close();
}

export async function stopWork(state: State, onError: (error: unknown) => void): Promise<void> {
  state.isClosing = true;
  state.isReady = false;
  await Promise.all(state.stops.map((stop) => stop().catch(onError)));
}

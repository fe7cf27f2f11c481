import { performance } from "node:perf_hooks";
import { systemClock } from "./platform/clock.ts";
import { openLog, type Logger } from "./platform/log.ts";
import { openService, type Service } from "./service.ts";
import type { Settings } from "./settings.ts";

/** Signals within this time of the first are the same one. */
const sameSignalMs = 500;
const firstAccount = { name: "My shop", plan: "business" };

/** Starts the service, tells people where it is, and stops it at SIGTERM or SIGINT; resolves when it has stopped. */
export async function serve(settings: Settings): Promise<void> {
  const { log, close: closeLog } = openLog(settings.logLevel);
  const stopAsked = stopSignal();
  try {
    const service = await openService(settings, { clock: systemClock, log });
    try {
      await Promise.race([begin(service, settings, log), stopAsked]);
    } catch (error) {
      await service.close();
      throw error;
    }
    log.info({ signal: await stopAsked }, "stopping");
    await stop(service, log);
  } finally {
    closeLog();
  }
}

async function begin(service: Service, settings: Settings, log: Logger): Promise<void> {
  await service.ready;
  await greet(service, settings);
  log.info({ address: service.address, startedMs: Math.round(performance.now()) }, "started");
}

/** Tells where the service is. While there is no account, makes one and shows its key, this once. */
async function greet({ administration }: Service, { publicUrl }: Settings): Promise<void> {
  print(`Pet Store is at ${publicUrl} (API: ${publicUrl}/v1, description: ${publicUrl}/openapi.json)`);
  const first = await administration["accounts.createFirst"](firstAccount);
  if (!first) return;
  const { account, key } = first;
  const { link } = await administration["members.invite"]({ account: account.id });
  print(`
This is its first start: account ${account.id} (${account.name}, plan ${account.plan}) was made for you. Its key, shown only now:

  ${key}

Sign in to the dashboard, within 15 minutes and once, at

  ${link}

Later links come from: npm run petstore -- members invite --account ${account.id} --email YOU@EXAMPLE.COM --role owner

Try it:

  export API_KEY=${key} BASE_URL=${publicUrl}/v1
  curl -X POST "$BASE_URL/categories" -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" -d '{"name":"Dogs"}'
  curl -X POST "$BASE_URL/pets" -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" -d '{"name":"Rex","categoryId":1}'
  curl "$BASE_URL/pets" -H "Authorization: Bearer $API_KEY"
`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, resolve);
  });
}

/** A second signal does not wait for what is in flight; a terminal may send the first one twice. */
async function stop(service: Service, log: Logger): Promise<void> {
  setTimeout(() => void stopSignal().then(() => process.exit(1)), sameSignalMs).unref();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => undefined);
  await service.close();
  log.info("stopped");
}

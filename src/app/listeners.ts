import type { App } from "../platform/http/app.ts";
import { originAt, type Place } from "../platform/listening.ts";
import type { Settings } from "./settings.ts";

/** Lets the requests in flight finish, and cuts them off after `ms`. */
export async function closeWithin(app: App, ms: number): Promise<void> {
  const cutOff = setTimeout(() => app.server.closeAllConnections(), ms);
  await app.close();
  clearTimeout(cutOff);
}

/** Every place at which the service listens. */
export function placesOf({ host, port, edgeHttpPort, edgeHttpsPort }: Settings): Place[] {
  const ports = { PORT: port, EDGE_HTTP_PORT: edgeHttpPort, EDGE_HTTPS_PORT: edgeHttpsPort };
  return Object.entries(ports).map(([setting, number]) => ({ setting, host, port: number }));
}

/** Returns the origin at which the API listens. */
export async function listen(app: App, { port, host }: Settings): Promise<string> {
  const { address } = await app.listen({ setting: "PORT", port, host });
  return originAt(address);
}

import { X509Certificate } from "node:crypto";
import type { Clock } from "../platform/clock.ts";
import type { Logger } from "../platform/log.ts";
import type { Service } from "./service.ts";
import { needingRestart, type Settings } from "./settings.ts";

export type ReloadParts = {
  service: Pick<Service, "reload">;
  /** Reads the settings again. */
  read: () => Settings;
  log: Logger;
  clock: Clock;
};

/**
 * Reads the settings and the files that they name again, and applies those that can change while the service runs. If one of them is wrong, it
 * changes nothing. It logs one line in either case.
 *
 * @returns the settings that are in force
 */
export function reloaded(current: Settings, { service, read, log, clock }: ReloadParts): Settings {
  try {
    const next = read();
    if (next.edgeCert !== current.edgeCert) requireUsable(next, clock());
    service.reload(next);
    const unchanged = needingRestart(current, next);
    if (unchanged.length > 0) log.warn({ settings: unchanged }, "reloaded; these settings change with the next start");
    else log.info("reloaded");
    log.level = next.logLevel;
    return next;
  } catch (error) {
    log.error({ reason: (error as Error).message }, "the reload changed nothing");
    return current;
  }
}

/** Throws if browsers would refuse the new wildcard certificate. */
function requireUsable({ edgeCert, platformDomain }: Settings, now: number): void {
  if (edgeCert === "") return;
  const certificate = new X509Certificate(edgeCert);
  const { validFrom, validTo } = certificate;
  if (certificate.validToDate.getTime() <= now) throw new Error(`the certificate in EDGE_CERT_FILE expired: ${validTo}`);
  if (certificate.validFromDate.getTime() > now) throw new Error(`the certificate in EDGE_CERT_FILE is not valid yet: ${validFrom}`);
  if (certificate.checkHost(`a.${platformDomain}`) === undefined)
    throw new Error(`the certificate in EDGE_CERT_FILE is not for the names below PLATFORM_DOMAIN (${platformDomain})`);
}

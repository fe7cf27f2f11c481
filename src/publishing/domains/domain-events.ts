import type { Transaction } from "../../platform/db/database.ts";
import { fieldsBefore, type EventDraft, type Origin } from "../../platform/events.ts";
import { formatDateTime } from "../../platform/http/dates.ts";
import type { StoredDomain } from "./domain-rows.ts";
import type { RecordedTrouble } from "./troubles.ts";

type DomainEvent = Extract<EventDraft["type"], `domain.${string}`>;
type CertificateEvent = Extract<EventDraft["type"], `certificate.${string}`>;
const moment = (time: number | null): string | null => (time === null ? null : formatDateTime(time));

/** Records an event of a name. `before`: the name before the event. Default: unchanged. */
export function recordDomain(tx: Transaction, type: DomainEvent, domain: StoredDomain, before = domain, origin?: Origin): void {
  const { accountId, hostname, version } = domain;
  const data = eventData(domain);
  tx.record(
    { accountId, type, resource: { type: "domain", id: hostname }, data, previous: fieldsBefore(eventData(before), data), version },
    origin,
  );
}

/** Records that a name needs its owner's attention, with its troubles now and those recorded before. */
export function recordAttention(tx: Transaction, domain: StoredDomain, troubles: RecordedTrouble[], recorded: RecordedTrouble[]): void {
  const { accountId, hostname, version } = domain;
  const data = { ...eventData(domain), troubles };
  const previous = { troubles: recorded };
  tx.record({ accountId, type: "domain.attention", resource: { type: "domain", id: hostname }, data, previous, version });
}

/** Records an event of a name's certificate. */
export function recordCertificate(tx: Transaction, type: CertificateEvent, domain: StoredDomain, before: StoredDomain): void {
  const { accountId, hostname } = domain;
  const data = certificateOf(domain);
  const previous = fieldsBefore(certificateOf(before), data);
  tx.record({ accountId, type, resource: { type: "certificate", id: hostname }, data, previous });
}

/** The fields of a name in its events. Leaves out fields that depend on other names, on settings or on the time. */
function eventData(domain: StoredDomain) {
  const { hostname, projectId, kind, status, primary, redirect, problems, createdAt, verifiedAt } = domain;
  const times = { createdAt: formatDateTime(createdAt), verifiedAt: moment(verifiedAt) };
  return { hostname, projectId, kind, status, primary, redirect, problems, ...times };
}

function certificateOf({ hostname, projectId, certificate: { status, issuedAt, expiresAt, problem, retryAt } }: StoredDomain) {
  const times = { issuedAt: moment(issuedAt), expiresAt: moment(expiresAt), retryAt: moment(retryAt) };
  return { hostname, projectId, status, problem, ...times };
}

import assert from "node:assert/strict";
import type { ShopEvent } from "../../client/events.ts";

type Data<T extends ShopEvent["type"]> = Extract<ShopEvent, { type: T }>["data"];
/** The fields of a type. The compiler refuses the table below unless it has exactly these. */
type Fields<D> = { [Name in keyof D]-?: object extends Pick<D, Name> ? "may be absent" : "always" };
type Table = { [T in ShopEvent["type"]]: Fields<Data<T>> };

const [always, maybe] = ["always", "may be absent"] as const;
const pet: Table["pet.created"] = { id: always, name: always, categoryId: always, status: always };
const category: Table["category.created"] = { id: always, name: always, description: maybe };
const order: Table["order.created"] = { id: always, petId: maybe, quantity: maybe, shipDate: maybe, complete: maybe };
const reservation: Table["reservation.created"] = {
  id: always,
  petId: always,
  orderId: maybe,
  state: always,
  createdAt: always,
  lapsesAt: maybe,
  endedAt: maybe,
};
const inventory: Table["inventory.low"] = { petId: always, quantity: always, status: always };
const project: Table["project.created"] = {
  id: always,
  name: always,
  slug: always,
  deploymentId: always,
  domains: maybe,
  redirectToPrimary: always,
  hsts: always,
  createdAt: always,
};
const deployment: Table["deployment.ready"] = {
  id: always,
  projectId: always,
  status: always,
  error: always,
  files: always,
  bytes: always,
  leftOut: always,
  createdAt: always,
};
const domain: Table["domain.added"] = {
  hostname: always,
  projectId: always,
  kind: always,
  status: always,
  primary: maybe,
  redirect: maybe,
  problems: maybe,
  createdAt: maybe,
  verifiedAt: maybe,
  troubles: maybe,
};
const certificate: Table["certificate.issued"] = {
  hostname: always,
  projectId: always,
  status: always,
  issuedAt: always,
  expiresAt: always,
  problem: always,
  retryAt: always,
};
const key: Table["key.created"] = { id: always, bannedUntil: maybe };
const webhook: Table["webhook.created"] = {
  id: always,
  url: always,
  types: always,
  description: always,
  ordered: always,
  enabled: always,
  disabledBecause: always,
  position: always,
  deliveredPosition: always,
  deliveredAt: always,
  failingSince: always,
  pausedUntil: always,
  createdAt: always,
};
const member: Table["member.invited"] = { id: always, role: maybe };
const account: Table["account.updated"] = {
  id: always,
  plan: maybe,
  perMinute: maybe,
  perDay: maybe,
  lowStock: maybe,
  contactDays: maybe,
  currency: maybe,
};
const imported: Table["import.finished"] = {
  id: always,
  source: always,
  fileName: always,
  status: always,
  created: always,
  updated: always,
  unchanged: always,
  rejected: always,
  startedAt: always,
  finishedAt: maybe,
  undoneAt: maybe,
  undone: maybe,
  by: always,
  photosFailed: maybe,
  stays: maybe,
};
const profile: Table["pet.profile_updated"] = { petId: always, description: maybe, price: maybe, facts: maybe, photos: always };
const limit: Table["limit.reached"] = { id: always, window: always, limit: always };
const kinds = {
  pet,
  category,
  order,
  reservation,
  inventory,
  project,
  deployment,
  domain,
  certificate,
  key,
  webhook,
  member,
  account,
  import: imported,
  limit,
};

/** Requires that the data of an event has the fields that the client's types name. */
export function requireTypedData({ type, data }: { type: string; data: object }): void {
  const kind = type.slice(0, type.indexOf(".")) as keyof typeof kinds;
  const fields: Record<string, string> = type === "pet.profile_updated" ? profile : kinds[kind];
  const missing = Object.keys(fields).filter((name) => fields[name] === always && !(name in data));
  const unknown = Object.keys(data).filter((name) => !(name in fields));
  assert.deepEqual({ missing, unknown }, { missing: [], unknown: [] }, `the data of ${type}`);
}

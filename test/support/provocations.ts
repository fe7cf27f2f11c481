import assert from "node:assert/strict";
import sql from "sql-template-tag";
import { exampleOf, type Operation } from "./description.ts";
import type { Failure } from "./models.ts";
import { examplePicture, picture } from "./pictures.ts";
import { unlimited, type Asked, type Reply, type TestService } from "./service.ts";
import { addEnquiry, made } from "./shop.ts";

/** A request that an operation refuses, as a change of its example request. */
type Provocation = Asked & { params?: Record<string, unknown>; path?: string };

/** The things that refusals need beside the shop of the examples. No provocation changes them. */
export type Scene = {
  shop: TestService;
  freeKey: string /** A key without the scope of an operation. */;
  keyBeside: (operation: Operation) => string;
  site: Uint8Array;
  otherSite: Uint8Array;
};

/**
 * Adds to the shop of the examples: reservation 2 is refused; key 3 has replaced key 2; animal 4 is sold; order 2 is complete; project 2 has no deployment; deployment 2 of
 * project 1 failed; another account holds `taken.example.com` and the slug `taken`, and has taken `lost.example.com` over;
 * `new.example.com` is not verified; import 1 is too old to be undone; the oldest event that is kept has position 3.
 *
 * @param prove puts a record in place
 */
export async function setScene(
  shop: TestService,
  site: Uint8Array,
  brokenSite: Uint8Array,
  prove: (challenge: NonNullable<Failure["challenge"]>) => void,
): Promise<Scene> {
  await addEnquiry(shop, shop.accountId, 1);
  await made(shop, "PATCH", "/reservations/2", { state: "refused" });
  await made(shop, "POST", "/keys/2/rotate", {});
  await made(shop, "POST", "/pets", { name: "Bo", categoryId: 2, status: "sold" });
  await made(shop, "POST", "/store/orders", { petId: 2, complete: true });
  await made(shop, "POST", "/projects", { name: "Second", slug: "second" });
  const upload = (projectId: number, body: Uint8Array, key: string) =>
    shop.ask("POST", `/projects/${projectId}/deployments`, { key, body, headers: { "content-type": "application/gzip" } });
  assert.equal((await upload(1, brokenSite, shop.key)).status, 202);

  const other = await shop.newAccount();
  const { id } = await made<{ id: number }>(shop, "POST", "/projects", { name: "Other", slug: "taken" }, other.key);
  assert.equal((await upload(id, site, other.key)).status, 202);
  await shop.publishing.idle();
  await made(shop, "POST", `/projects/${id}/domains`, { hostname: "taken.example.com" }, other.key);
  for (const hostname of ["new.example.com", "lost.example.com"]) await made(shop, "POST", "/projects/1/domains", { hostname });
  const takeOver = () => shop.ask<Failure>("POST", `/projects/${id}/domains`, { key: other.key, body: { hostname: "lost.example.com" } });
  prove((await takeOver()).body.challenge!);
  assert.equal((await takeOver()).status, 201);

  await shop.db.write(async (tx) => {
    await tx.query(sql`UPDATE imports SET due_at = NULL WHERE account_id = ${shop.accountId} AND id = 1`);
    await tx.query(sql`DELETE FROM events WHERE account_id = ${shop.accountId} AND position < 3`);
    await tx.query(sql`INSERT INTO event_starts (account_id, position, previous_hash) VALUES (${shop.accountId}, 3, ${"0".repeat(64)})`);
  });
  const { key: freeKey } = await shop.newAccount("free");
  const newKey = async (scope: string) => (await shop.administration["keys.create"]({ account: shop.accountId, scopes: [scope] })).key;
  const [accountKey, projectsKey] = [await newKey("account:read"), await newKey("publishing:write")];
  const keyBeside = ({ tags }: Operation) => (tags.some((tag) => tag === "Projects" || tag === "Domains") ? accountKey : projectsKey);
  return { shop, freeKey, keyBeside, site, otherSite: brokenSite };
}

const unknown = {
  petId: 999,
  photoId: 999,
  categoryId: 999,
  orderId: 999,
  reservationId: 999,
  importId: 999,
  keyId: 999,
  projectId: 999,
  deploymentId: 999,
  webhookId: 999,
  deliveryId: 999,
  hostname: "unknown.example.com",
};
const missingCategory = { name: "Rex", categoryId: 12 };

/** The provocations that belong to one operation, by code. Codes that are not here follow from the operation's form. */
const own: Record<string, Record<string, Provocation>> = {
  listEvents: { events_expired: { path: "/events?after=0" } },
  streamEvents: { events_expired: { path: "/events/stream?after=0" } },
  getEventsCheckpoint: { events_expired: { path: "/events/checkpoint?position=0" } },
  listPets: { precondition_failed: { path: "/pets?id=1", headers: { "if-match": '"0"' } } },
  createPet: { unknown_reference: { body: missingCategory } },
  createPetsBatch: { unknown_reference: { body: [missingCategory] } },
  replacePet: {
    unknown_reference: { body: missingCategory },
    status_follows_stock: { params: { petId: 1 }, body: { name: "Rex", categoryId: 1, status: "sold" } },
  },
  updatePet: { unknown_reference: { body: { categoryId: 12 } }, status_follows_stock: { params: { petId: 1 }, body: { status: "sold" } } },
  deletePet: { pet_in_use: { params: { petId: 1 } } },
  replaceProfile: { unknown_reference: { body: { photos: [{ id: 12 }] } } },
  updateProfile: { unknown_reference: { body: { photos: [{ id: 12 }] } } },
  addPhoto: { idempotency_key_reused: { params: { petId: 3 } }, idempotency_key_in_use: { params: { petId: 3 } } },
  createCategory: { category_exists: { body: { name: "dogs" } } },
  replaceCategory: { category_exists: { params: { categoryId: 2 }, body: { name: "Dogs" } } },
  updateCategory: { category_exists: { params: { categoryId: 2 }, body: { name: "Dogs" } } },
  deleteCategory: { category_not_empty: { params: { categoryId: 1 } } },
  createOrder: {
    unknown_reference: { body: { petId: 12 } },
    pet_not_available: { body: { petId: 4 } },
    insufficient_stock: { body: { petId: 1, quantity: 9 } },
  },
  replaceOrder: {
    unknown_reference: { params: { orderId: 1 }, body: { petId: 12 } },
    pet_not_available: { params: { orderId: 1 }, body: { petId: 4 } },
    insufficient_stock: { params: { orderId: 1 }, body: { petId: 1, quantity: 9 } },
    order_complete: { params: { orderId: 2 }, body: { petId: 2, quantity: 2, complete: true } },
  },
  updateOrder: {
    unknown_reference: { params: { orderId: 1 }, body: { petId: 12 } },
    pet_not_available: { params: { orderId: 1 }, body: { petId: 4 } },
    insufficient_stock: { params: { orderId: 1 }, body: { quantity: 9 } },
    order_complete: { params: { orderId: 2 }, body: { quantity: 2 } },
  },
  deleteOrder: { order_complete: { params: { orderId: 2 } } },
  updateReservation: { reservation_ended: { params: { reservationId: 2 }, body: { state: "accepted" } } },
  adjustInventoryItem: { insufficient_stock: { params: { petId: 1 }, body: { delta: -9 } } },
  createImport: {
    idempotency_key_reused: { body: { source: "Farm", fileName: "other.csv" } },
    storage_limit_reached: { body: { source: "Farm", fileName: "other.csv", categories: ["Fish"] } },
  },
  importRows: {
    unknown_reference: { body: [{ sourceId: "A-18", pet: missingCategory }] },
    import_closed: { params: { importId: 1 } },
  },
  undoImport: { import_closed: { params: { importId: 1 } } },
  createKey: { idempotency_key_reused: { body: { name: "Till" } } },
  rotateKey: { key_replaced: { params: { keyId: 2 }, body: { overlapHours: 2 } } },
  createProject: { slug_taken: { body: { name: "Mine", slug: "taken" } } },
  updateProject: { slug_taken: { body: { slug: "taken" } } },
  promoteDeployment: { deployment_not_ready: { params: { deploymentId: 2 } } },
  addDomain: {
    domain_taken: { body: { hostname: "taken.example.com" } },
    project_not_deployed: { params: { projectId: 2 } },
  },
  updateDomain: {
    domain_taken: { params: { hostname: "lost.example.com" } },
    domain_not_verified: { params: { hostname: "new.example.com" }, body: { primary: true } },
  },
  createWebhook: { idempotency_key_reused: { body: { url: "https://hooks.example.com/others" } } },
  replayWebhook: { idempotency_key_reused: { params: { webhookId: 999 }, body: { after: 3 } }, events_expired: { body: { after: 0 } } },
  verifyDomain: { idempotency_key_in_use: {}, domain_taken: { params: { hostname: "lost.example.com" } } },
};

/** The answer to a request that an operation refuses with a code. */
export async function provoke(scene: Scene, operation: Operation, code: string): Promise<Reply<Failure>> {
  if (code === "idempotency_key_in_use") return provokeKeyInUse(scene, operation);
  if (code === "idempotency_key_reused") return provokeKeyReused(scene, operation);
  if (code === "storage_limit_reached") return provokeStorageLimit(scene, operation);
  return send(scene, operation, own[operation.operationId]?.[code] ?? byForm(scene, operation, code));
}

function byForm({ freeKey, keyBeside }: Scene, operation: Operation, code: string): Provocation {
  switch (code) {
    case "invalid_request":
      return badInput(operation);
    case "forbidden":
      return { key: keyBeside(operation) };
    case "plan_required":
      return { key: freeKey };
    case "not_found":
      return { params: lastOf(operation) };
    case "precondition_failed":
      return { headers: { "if-match": '"0"' } };
    default:
      return assert.fail(`nothing provokes ${code} of ${operation.operationId}: add it to provocations.ts`);
  }
}

/** Only the last parameter of the path is unknown: the earlier ones exist. */
function lastOf({ path }: Operation): Record<string, unknown> {
  const name = [...path.matchAll(/\{(\w+)\}/g)].at(-1)?.[1] ?? "";
  return { [name]: unknown[name as keyof typeof unknown] };
}

function badInput(operation: Operation): Provocation {
  const { path } = exampleOf(operation);
  const body = operation.requestBody?.content["application/json"]?.example;
  if (Array.isArray(body)) return { body: [{}] };
  if (body !== undefined) return { body: { nonsense: 1 } };
  if (operation.parameters.some(({ name }) => name === "limit")) return { path: `${path.split("?")[0]}?limit=0` };
  const [id] = operation.parameters.filter((parameter) => parameter.in === "path" && parameter.name !== "hostname").slice(-1);
  return id ? { params: { [id.name]: "first" } } : { path: `${path.split("?")[0]}?nonsense=1` };
}

function send({ shop, site }: Scene, operation: Operation, { params, path, key, headers, ...rest }: Provocation): Promise<Reply<Failure>> {
  const example = exampleOf(operation, params);
  const body = "body" in rest ? rest.body : ({ createDeployment: site, addPhoto: examplePicture }[operation.operationId] ?? example.body);
  return shop.ask<Failure>(operation.method, path ?? example.path, {
    key: key ?? shop.key,
    headers: { ...(example.contentType && { "content-type": example.contentType }), ...headers },
    ...(body !== undefined && { body }),
  });
}

const keysMax = 50;

/** Sends a request several times at once, under new keys until one of them finds another still running. */
async function provokeKeyInUse(scene: Scene, operation: Operation): Promise<Reply<Failure>> {
  const provocation = own[operation.operationId]?.["idempotency_key_in_use"] ?? refusedBody(operation);
  for (let i = 0; i < keysMax; i++) {
    const headers = { "idempotency-key": `in-use-${i}-${operation.operationId}` };
    const replies = await Promise.all(Array.from({ length: 8 }, () => send(scene, operation, { headers, ...provocation })));
    const refused = replies.find(({ body }) => body.code === "idempotency_key_in_use");
    if (refused) return refused;
  }
  return assert.fail(`no request of ${operation.operationId} met another one that was still running`);
}

async function provokeKeyReused(scene: Scene, operation: Operation): Promise<Reply<Failure>> {
  const headers = { "idempotency-key": `reused-${operation.operationId}` };
  const first = await send(scene, operation, { headers, ...refusedBody(operation) });
  assert.notEqual(first.status, 400, JSON.stringify(first.body));
  const { operationId } = operation;
  const otherPicture = operationId === "addPhoto" && (await picture("navy", { width: 16, height: 16 }));
  const otherBody = operationId === "createDeployment" ? scene.otherSite : otherPicture || exampleOf(operation).body;
  return send(scene, operation, { ...refusedBody(operation), headers, body: otherBody });
}

/** Sends a request while the account may store no more than it does. */
async function provokeStorageLimit(scene: Scene, operation: Operation): Promise<Reply<Failure>> {
  const { administration, accountId } = scene.shop;
  const setPlan = (storage: object) => administration["accounts.setPlan"]({ id: accountId, plan: "enterprise", ...unlimited, ...storage });
  await setPlan({ records: 1, publishedBytes: 1 });
  try {
    return await send(scene, operation, own[operation.operationId]?.["storage_limit_reached"] ?? {});
  } finally {
    await setPlan({});
  }
}

/** A request whose refusal is kept with its key, so that nothing changes. */
function refusedBody({ operationId }: Operation): Provocation {
  const [kept] = Object.entries(own[operationId] ?? {});
  return kept?.[1] ?? { params: unknown };
}

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { operationsIn, type Document } from "./support/description.ts";
import { startService, type TestService } from "./support/service.ts";

const root = new URL("../", import.meta.url);
const committed = JSON.parse(readFileSync(new URL("openapi.json", root), "utf8")) as Document;
const operations = operationsIn(committed);

let shop: TestService;
before(async () => {
  shop = await startService();
});
after(() => shop.close());

const decided = [
  "listPets GET /pets",
  "createPet POST /pets",
  "createPetsBatch POST /pets/batch",
  "getPet GET /pets/{petId}",
  "replacePet PUT /pets/{petId}",
  "updatePet PATCH /pets/{petId}",
  "deletePet DELETE /pets/{petId}",
  "getProfile GET /pets/{petId}/profile",
  "replaceProfile PUT /pets/{petId}/profile",
  "updateProfile PATCH /pets/{petId}/profile",
  "deleteProfile DELETE /pets/{petId}/profile",
  "addPhoto POST /pets/{petId}/profile/photos",
  "deletePhoto DELETE /pets/{petId}/profile/photos/{photoId}",
  "listCategories GET /categories",
  "createCategory POST /categories",
  "getCategory GET /categories/{categoryId}",
  "replaceCategory PUT /categories/{categoryId}",
  "updateCategory PATCH /categories/{categoryId}",
  "deleteCategory DELETE /categories/{categoryId}",
  "listOrders GET /store/orders",
  "createOrder POST /store/orders",
  "getOrder GET /store/orders/{orderId}",
  "replaceOrder PUT /store/orders/{orderId}",
  "updateOrder PATCH /store/orders/{orderId}",
  "deleteOrder DELETE /store/orders/{orderId}",
  "getContact GET /store/orders/{orderId}/contact",
  "replaceContact PUT /store/orders/{orderId}/contact",
  "deleteContact DELETE /store/orders/{orderId}/contact",
  "listReservations GET /reservations",
  "getReservation GET /reservations/{reservationId}",
  "updateReservation PATCH /reservations/{reservationId}",
  "listInventory GET /store/inventory",
  "getInventoryItem GET /store/inventory/{petId}",
  "replaceInventoryItem PUT /store/inventory/{petId}",
  "deleteInventoryItem DELETE /store/inventory/{petId}",
  "adjustInventoryItem POST /store/inventory/{petId}/adjustments",
  "listImports GET /imports",
  "createImport POST /imports",
  "getImport GET /imports/{importId}",
  "importRows POST /imports/{importId}/rows",
  "undoImport POST /imports/{importId}/undo",
  "getAccount GET /account",
  "getUsage GET /usage",
  "listKeys GET /keys",
  "createKey POST /keys",
  "rotateKey POST /keys/{keyId}/rotate",
  "revokeKey DELETE /keys/{keyId}",
  "listProjects GET /projects",
  "createProject POST /projects",
  "getProject GET /projects/{projectId}",
  "updateProject PATCH /projects/{projectId}",
  "deleteProject DELETE /projects/{projectId}",
  "listDeployments GET /projects/{projectId}/deployments",
  "createDeployment POST /projects/{projectId}/deployments",
  "getDeployment GET /projects/{projectId}/deployments/{deploymentId}",
  "promoteDeployment POST /projects/{projectId}/deployments/{deploymentId}/promote",
  "listDomains GET /projects/{projectId}/domains",
  "addDomain POST /projects/{projectId}/domains",
  "getDomain GET /projects/{projectId}/domains/{hostname}",
  "updateDomain PATCH /projects/{projectId}/domains/{hostname}",
  "removeDomain DELETE /projects/{projectId}/domains/{hostname}",
  "verifyDomain POST /projects/{projectId}/domains/{hostname}/verify",
];

test("every agreed operation is described, under its operationId", () => {
  const described = new Set(operations.map(({ operationId, method, path }) => `${operationId} ${method} ${path}`));
  for (const operation of decided) assert.ok(described.has(operation), operation);
});

test("the tags Pets and Store carry no operations: they group the tags of those that do", () => {
  const groups = committed["x-tagGroups"];
  assert.deepEqual(groups.slice(0, 2), [
    { name: "Pets", tags: ["Animals", "Categories"] },
    { name: "Store", tags: ["Orders", "Inventory"] },
  ]);
  assert.deepEqual(
    groups.slice(2).map(({ name }) => name),
    ["Integration", "Platform"],
  );
  const declared = committed.tags.map(({ name }) => name);
  assert.ok(declared.includes("Pets") && declared.includes("Store"));
  const used = new Set(operations.flatMap(({ tags }) => tags));
  assert.deepEqual(new Set(groups.flatMap(({ tags }) => tags)), used);
  assert.deepEqual(
    declared.filter((name) => !used.has(name)),
    ["Pets", "Store"],
  );
});

test("the interactive panel is off for GET /store/orders alone", () => {
  const off = operations.filter((operation) => "x-hideTryItPanel" in operation);
  assert.deepEqual(
    off.map(({ operationId, ...operation }) => [operationId, operation["x-hideTryItPanel"]]),
    [["listOrders", true]],
  );
});

test("x-stability marks the batch as beta, and adjustments, profiles, contacts and reservations as experimental", () => {
  const stability = (id: string) => operations.find(({ operationId }) => operationId === id)?.["x-stability"];
  assert.equal(stability("createPetsBatch"), "beta");
  const profiles = ["getProfile", "replaceProfile", "updateProfile", "deleteProfile", "addPhoto", "deletePhoto"];
  const reservations = ["listReservations", "getReservation", "updateReservation"];
  for (const id of ["adjustInventoryItem", ...profiles, "getContact", "replaceContact", "deleteContact", ...reservations])
    assert.equal(stability(id), "experimental", id);
  for (const operation of operations) assert.ok([undefined, "beta", "experimental"].includes(operation["x-stability"]));
});

test("GET /pets/{petId} alone is deprecated, with its sunset date", () => {
  const deprecated = operations.filter((operation) => operation.deprecated);
  assert.deepEqual(
    deprecated.map((operation) => [operation.operationId, operation["x-sunset"]]),
    [["getPet", "2027-12-31T00:00:00.000Z"]],
  );
});

import { createClient } from "./hey-api/client/index.ts";
import * as api from "./hey-api/sdk.gen.ts";
import type { Order } from "./hey-api/types.gen.ts";

/** The first requests of the README and some others, as code that uses the client of `@hey-api/openapi-ts` would send them. */
export async function firstCalls(baseUrl: string, key: string, slug: string, archive: Blob) {
  const client = createClient({ baseUrl, auth: key });

  const category = await api.createCategory({ client, body: { name: "Dogs" } });
  if (!category.data) throw new Error(category.error.message);
  const pet = await api.createPet({ client, body: { name: "Rex", categoryId: category.data.id, status: null } });
  if (!pet.data) throw new Error(pet.error.message);
  const petId = pet.data.id;
  const same = await api.replacePet({ client, path: { petId }, body: pet.data });
  if (!same.data) throw new Error(same.error.message);
  const stock = await api.replaceInventoryItem({ client, path: { petId }, body: { quantity: 1 } });

  const order: Order = { petId };
  const first = await api.createOrder({ client, body: order });
  const second = await api.createOrder({ client, body: order, headers: { "Idempotency-Key": "second" } });
  let refusal = "none";
  if (second.error?.code === "insufficient_stock") refusal = `${second.error.status} ${second.error.message}`;

  const adjusted = await api.adjustInventoryItem({ client, path: { petId }, body: { delta: 2 } });
  const pets = await api.listPets({ client, query: { status: ["available"], sort: "-name", limit: 10 } });
  const names: string[] | undefined = pets.data?.map(({ name, status }) => `${name} ${status}`);
  const invalid = await api.createPet({ client, body: { name: "", categoryId: category.data.id } });
  const wrongPath: string | undefined = invalid.error?.details?.[0]?.path;

  const project = await api.createProject({ client, body: { name: "Happy Paws", slug } });
  if (!project.data) throw new Error(project.error.message);
  const deployment = await api.createDeployment({ client, path: { projectId: project.data.id }, body: archive });

  return {
    pet: pet.data,
    stock: stock.data,
    order: first.data,
    refusal,
    adjusted: adjusted.data,
    names,
    wrongPath,
    deployment: deployment.data?.status,
  };
}

/** Calls that must not compile. */
export async function wrongCalls() {
  // @ts-expect-error a name is required
  await api.createPet({ body: { categoryId: 1 } });
  // @ts-expect-error there is no such status
  await api.createPet({ body: { name: "Rex", categoryId: 1, status: "lost" } });
  // @ts-expect-error there is no such order of a list
  await api.listPets({ query: { sort: "age" } });
  // @ts-expect-error an order may have no animal
  const petId: number = (await api.getOrder({ path: { orderId: 1 } })).data!.petId;
  // @ts-expect-error what is optional is left out
  const order: Order = { petId: undefined };
  return [petId, order];
}

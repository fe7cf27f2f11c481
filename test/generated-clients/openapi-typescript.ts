import createClient from "openapi-fetch";
import type { components, paths } from "./paths.ts";

type Order = components["schemas"]["Order"];

/** The first requests of the README and some others, as code that uses the types of `openapi-typescript` would send them. */
export async function firstCalls(baseUrl: string, key: string, slug: string, archive: Blob) {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } });

  const category = await client.POST("/categories", { body: { name: "Dogs" } });
  if (!category.data) throw new Error(category.error.message);
  const pet = await client.POST("/pets", { body: { name: "Rex", categoryId: category.data.id, status: null } });
  if (!pet.data) throw new Error(pet.error.message);
  const petId = pet.data.id;
  const same = await client.PUT("/pets/{petId}", { params: { path: { petId } }, body: pet.data });
  if (!same.data) throw new Error(same.error.message);
  const stock = await client.PUT("/store/inventory/{petId}", { params: { path: { petId } }, body: { quantity: 1 } });

  const order: Order = { petId };
  const first = await client.POST("/store/orders", { body: order });
  const second = await client.POST("/store/orders", { body: order, headers: { "Idempotency-Key": "second" } });
  let refusal = "none";
  if (second.error?.code === "insufficient_stock") refusal = `${second.error.status} ${second.error.message}`;

  const adjusted = await client.POST("/store/inventory/{petId}/adjustments", { params: { path: { petId } }, body: { delta: 2 } });
  const pets = await client.GET("/pets", { params: { query: { status: ["available"], sort: "-name", limit: 10 } } });
  const names: string[] | undefined = pets.data?.map(({ name, status }) => `${name} ${status}`);
  const invalid = await client.POST("/pets", { body: { name: "", categoryId: category.data.id } });
  const wrongPath: string | undefined = invalid.error?.details?.[0]?.path;

  const project = await client.POST("/projects", { body: { name: "Happy Paws", slug } });
  if (!project.data) throw new Error(project.error.message);
  const deployment = await client.POST("/projects/{projectId}/deployments", {
    params: { path: { projectId: project.data.id } },
    headers: { "Content-Type": "application/gzip" },
    // `openapi-typescript` makes a string of every binary body.
    body: archive as unknown as string,
    bodySerializer: (body) => body,
  });

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
export async function wrongCalls(baseUrl: string) {
  const client = createClient<paths>({ baseUrl });
  // @ts-expect-error a name is required
  await client.POST("/pets", { body: { categoryId: 1 } });
  // @ts-expect-error there is no such status
  await client.POST("/pets", { body: { name: "Rex", categoryId: 1, status: "lost" } });
  // @ts-expect-error there is no such order of a list
  await client.GET("/pets", { params: { query: { sort: "age" } } });
  // @ts-expect-error an order may have no animal
  const petId: number = (await client.GET("/store/orders/{orderId}", { params: { path: { orderId: 1 } } })).data!.petId;
  // @ts-expect-error what is optional is left out
  const order: Order = { petId: undefined };
  // @ts-expect-error an answer has no null
  const answered: Order = { petId: null };
  return [petId, order, answered];
}

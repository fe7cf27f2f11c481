import { openAsBlob } from "node:fs";
import * as petstore from "./petstore";
import { createClient } from "./petstore/client";

const client = (auth = "") => createClient({ baseUrl: process.env.BASE_URL, auth });
const refusal = ({ error }: { error?: petstore.Error }): string => `${error?.status} ${error?.code}`;

async function main(): Promise<void> {
  const shop = { client: client(process.env.API_KEY) };
  const strict = { ...shop, throwOnError: true as const };

  const { data: category } = await petstore.createCategory({ ...strict, body: { name: "Dogs" } });
  console.log("category", category.name);

  const pets: petstore.Pet[] = [];
  for (let n = 1; n <= 5; n++)
    pets.push((await petstore.createPet({ ...strict, body: { name: `Pet ${n}`, categoryId: category.id } })).data);
  const petId = pets[0].id;
  await petstore.replaceInventoryItem({ ...strict, path: { petId }, body: { quantity: 1 } });

  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await petstore.listPets({ ...strict, query: { limit: 2, cursor } });
    for (const { name } of page.data) names.push(name);
    const next = /[?&]cursor=([^&>]+)/.exec(page.response.headers.get("Link") ?? "");
    cursor = next ? decodeURIComponent(next[1]) : undefined;
  } while (cursor);
  console.log("pets", names.join(", "));

  const { data: order } = await petstore.createOrder({ ...strict, body: { petId } });
  console.log("order", order.quantity, order.complete);
  console.log("refused", refusal(await petstore.createOrder({ ...shop, body: { petId } })));

  const { data: photo } = await petstore.addPhoto({
    ...strict,
    path: { petId },
    query: { alt: "Rex on a lawn" },
    body: await openAsBlob("rex.jpg"),
  });
  console.log("photo", photo.width, photo.height, photo.alt);

  const types: string[] = [];
  let after = 0;
  for (;;) {
    const { data: page } = await petstore.listEvents({ ...strict, query: { after, limit: 4 } });
    if (page.length === 0) break;
    types.push(...page.map(({ type }) => type));
    after = page[page.length - 1].position;
  }
  console.log("events", types.join(" "));

  const limited = client(process.env.LIMITED_KEY);
  for (;;) {
    const answer = await petstore.listPets({ client: limited });
    if (answer.data) continue;
    console.log("limited", refusal(answer), Number(answer.response?.headers.get("Retry-After")) > 0);
    break;
  }
}

void main();

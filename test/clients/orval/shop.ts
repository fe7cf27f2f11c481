import { openAsBlob } from "node:fs";
import * as petstore from "./petstore";
import { useKey } from "./request";

type Refusal = { status: number; data: unknown };
const refusal = ({ status, data }: Refusal): string => `${status} ${(data as petstore.Error).code}`;

async function main(): Promise<void> {
  const category = await petstore.createCategory({ name: "Dogs" });
  if (category.status !== 201) throw new Error(refusal(category));
  console.log("category", category.data.name);

  const pets: petstore.Pet[] = [];
  for (let n = 1; n <= 5; n++) {
    const pet = await petstore.createPet({ name: `Pet ${n}`, categoryId: category.data.id });
    if (pet.status !== 201) throw new Error(refusal(pet));
    pets.push(pet.data);
  }
  const petId = pets[0].id;
  await petstore.replaceInventoryItem(petId, { quantity: 1 });

  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await petstore.listPets({ limit: 2, cursor });
    if (page.status !== 200) throw new Error(`${page.status}`);
    for (const { name } of page.data) names.push(name);
    const next = /[?&]cursor=([^&>]+)/.exec(page.headers.get("Link") ?? "");
    cursor = next ? decodeURIComponent(next[1]) : undefined;
  } while (cursor);
  console.log("pets", names.join(", "));

  const order = await petstore.createOrder({ petId });
  if (order.status !== 201) throw new Error(refusal(order));
  console.log("order", order.data.quantity, order.data.complete);
  console.log("refused", refusal(await petstore.createOrder({ petId })));

  const photo = await petstore.addPhoto(petId, await openAsBlob("rex.jpg"), { alt: "Rex on a lawn" });
  if (photo.status !== 201) throw new Error(refusal(photo));
  console.log("photo", photo.data.width, photo.data.height, photo.data.alt);

  const types: string[] = [];
  let after = 0;
  for (;;) {
    const page = await petstore.listEvents({ after, limit: 4 });
    if (page.status !== 200) throw new Error(refusal(page));
    if (page.data.length === 0) break;
    types.push(...page.data.map(({ type }) => type));
    after = page.data[page.data.length - 1].position;
  }
  console.log("events", types.join(" "));

  useKey(process.env.LIMITED_KEY);
  for (;;) {
    const answer = await petstore.listPets();
    if (answer.status === 200) continue;
    console.log("limited", refusal(answer), Number(answer.headers.get("Retry-After")) > 0);
    break;
  }
}

void main();

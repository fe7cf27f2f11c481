import { openAsBlob } from "node:fs";
import { AnimalsApi, CategoriesApi, Configuration, EventsApi, InventoryApi, OrdersApi, ResponseError } from "./petstore";

const settings = (accessToken = ""): Configuration => new Configuration({ basePath: process.env.BASE_URL, accessToken });

async function refusal(error: unknown): Promise<string> {
  if (!(error instanceof ResponseError)) throw error;
  const { status, code } = await error.response.json();
  return `${status} ${code}`;
}

async function main(): Promise<void> {
  const shop = settings(process.env.API_KEY);
  const animals = new AnimalsApi(shop);
  const orders = new OrdersApi(shop);

  const category = await new CategoriesApi(shop).createCategory({ newCategory: { name: "Dogs" } });
  console.log("category", category.name);

  const pets = [];
  for (let n = 1; n <= 5; n++) pets.push(await animals.createPet({ newPet: { name: `Pet ${n}`, categoryId: category.id } }));
  const petId = pets[0].id;
  await new InventoryApi(shop).replaceInventoryItem({ petId, inventoryUpdate: { quantity: 1 } });

  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await animals.listPetsRaw({ limit: 2, cursor });
    for (const { name } of await page.value()) names.push(name);
    const next = /[?&]cursor=([^&>]+)/.exec(page.raw.headers.get("Link") ?? "");
    cursor = next ? decodeURIComponent(next[1]) : undefined;
  } while (cursor);
  console.log("pets", names.join(", "));

  const order = await orders.createOrder({ orderInput: { petId } });
  console.log("order", order.quantity, order.complete);
  await orders.createOrder({ orderInput: { petId } }).catch(async (error) => console.log("refused", await refusal(error)));

  const photo = await animals.addPhoto({ petId, body: await openAsBlob("rex.jpg"), alt: "Rex on a lawn" });
  console.log("photo", photo.width, photo.height, photo.alt);

  const types: string[] = [];
  let after = 0;
  for (;;) {
    const page = await new EventsApi(shop).listEvents({ after, limit: 4 });
    if (page.length === 0) break;
    types.push(...page.map(({ type }) => type));
    after = page[page.length - 1].position;
  }
  console.log("events", types.join(" "));

  const limited = new AnimalsApi(settings(process.env.LIMITED_KEY));
  try {
    for (;;) await limited.listPets();
  } catch (error) {
    const seconds = Number((error as ResponseError).response.headers.get("Retry-After"));
    console.log("limited", await refusal(error), seconds > 0);
  }
}

void main();

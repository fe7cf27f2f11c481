import { openAsBlob } from "node:fs";
import type { Client, ResponseConfig } from "@kubb/plugin-client/clients/fetch";
import * as petstore from "./petstore/index.ts";

type Answer = Pick<ResponseConfig<unknown>, "status" | "data" | "headers">;

class Refusal extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(`${answer.status} ${(answer.data as petstore.Error).code}`);
    this.answer = answer;
  }
}

/** Sends the requests of the generated functions, files as they are, with a key. */
function withKey(key: string | undefined): { client: Client } {
  const client: Client = async ({ url = "", method, params, data, headers }) => {
    const query = Object.entries(params ?? {}).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)]));
    const target = `${process.env["BASE_URL"]}${url}?${new URLSearchParams(query.filter(([, value]) => value !== "undefined"))}`;
    const sent = new Headers(headers as Record<string, string>);
    sent.set("Authorization", `Bearer ${key}`);
    if (data !== undefined && !(data instanceof Blob)) sent.set("Content-Type", "application/json");
    const body = data === undefined ? null : data instanceof Blob ? data : JSON.stringify(data);
    const response = await fetch(target, { method: method ?? "GET", headers: sent, body });
    const { status, statusText, headers: received } = response;
    const answer = { data: await response.json(), status, statusText, headers: received };
    if (!response.ok) throw new Refusal(answer);
    return answer;
  };
  return { client };
}

const shop = withKey(process.env["API_KEY"]);

const category = await petstore.createCategory({ name: "Dogs" }, {}, shop);
console.log("category", category.data.name);

const pets: petstore.Pet[] = [];
for (let n = 1; n <= 5; n++) pets.push((await petstore.createPet({ name: `Pet ${n}`, categoryId: category.data.id }, {}, shop)).data);
const petId = pets[0]!.id;
await petstore.replaceInventoryItem(petId, { quantity: 1 }, {}, shop);

const names: string[] = [];
let cursor: string | undefined;
do {
  const page = await petstore.listPets({ limit: 2, cursor }, {}, shop);
  for (const { name } of page.data) names.push(name);
  const next = /[?&]cursor=([^&>]+)/.exec(page.headers.get("Link") ?? "");
  cursor = next ? decodeURIComponent(next[1]!) : undefined;
} while (cursor);
console.log("pets", names.join(", "));

const { data: order } = await petstore.createOrder({ petId }, {}, shop);
console.log("order", order.quantity, order.complete);
await petstore.createOrder({ petId }, {}, shop).catch((refused: Refusal) => console.log("refused", refused.message));

const { data: photo } = await petstore.addPhoto(petId, await openAsBlob("rex.jpg"), { alt: "Rex on a lawn" }, {}, shop);
console.log("photo", photo.width, photo.height, photo.alt);

const types: string[] = [];
let after = 0;
for (;;) {
  const { data: page } = await petstore.listEvents({ after, limit: 4 }, {}, shop);
  if (page.length === 0) break;
  types.push(...page.map(({ type }) => type));
  after = page.at(-1)!.position;
}
console.log("events", types.join(" "));

const limited = withKey(process.env["LIMITED_KEY"]);
try {
  for (;;) await petstore.listPets({}, {}, limited);
} catch (error) {
  const { message, answer } = error as Refusal;
  console.log("limited", message, Number(answer.headers.get("Retry-After")) > 0);
}

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { dereferenced, operationsIn, type Document } from "./support/description.ts";
import type { Failure } from "./support/models.ts";
import { startService, type TestService } from "./support/service.ts";
import { exampleSite, made, newCategory } from "./support/shop.ts";

const document = JSON.parse(readFileSync(new URL("../openapi.json", import.meta.url), "utf8")) as Document;
type Json = Record<string, unknown>;

let shop: TestService;
let project: number;
let category: number;
before(async () => {
  shop = await startService();
  category = (await newCategory(shop, "Dogs")).id;
  project = (await made<{ id: number }>(shop, "POST", "/projects", { name: "Happy Paws", slug: "happy-paws" })).id;
  const upload = { body: await exampleSite(), headers: { "content-type": "application/gzip" } };
  assert.equal((await shop.ask("POST", `/projects/${project}/deployments`, upload)).status, 202);
  await shop.publishing.idle();
});
after(() => shop.close());

type Field = {
  /** The model and its field, as the description names them; a field of a list with `[]`. */
  field: string;
  accepted: string[];
  /** What the service refuses because of its characters or form. */
  refused: string[];
  /** Sends the value. */
  send: (value: string) => Promise<{ status: number; body: unknown }>;
};
const post = (path: string, body: object, headers = {}) => shop.ask("POST", path, { body, headers: { prefer: "dry-run", ...headers } });
const create = (path: string, body: object) => shop.ask("POST", path, { body });
const names = {
  accepted: ["Rex", " Rex ", "\u00A0Ünal\n", "O'Brien \u{1F415}", "\u200BRex", "日本", "a\u0085b"],
  refused: ["\t", "\u00A0", "a\0b", "a\nb", "\u001F"],
};

const fields: Field[] = [
  { field: "NewPet.name", ...names, send: (name) => post("/pets", { name, categoryId: category }) },
  { field: "NewCategory.name", ...names, send: (name) => post("/categories", { name }) },
  {
    field: "NewCategory.description",
    accepted: ["", "a\nb", " "],
    refused: ["a\0"],
    send: (description) => post("/categories", { name: "Cats", description }),
  },
  { field: "ContactInput.name", ...names, send: (name) => sendContact({ name }) },
  {
    field: "ContactInput.email",
    accepted: ["ann@example.com", " Ann.O'Neil+x@bücher.example ", "a@b"],
    refused: ["ann", "@example.com", "ann@", "a b@example.com", "ann@ex\0mple.com", "a@b@c"],
    send: (email) => sendContact({ email }),
  },
  {
    field: "ContactInput.phone",
    accepted: ["+44 20 7946 0958", "040/12345-6"],
    refused: [" ", "1\n2"],
    send: (phone) => sendContact({ phone }),
  },
  { field: "ContactInput.address", accepted: ["1 High St\nYork"], refused: [" ", "a\0"], send: (address) => sendContact({ address }) },
  { field: "ContactInput.note", accepted: ["a\nb"], refused: [" ", "a\0"], send: (note) => sendContact({ note }) },
  {
    field: "PriceInput.currency",
    accepted: ["EUR"],
    refused: ["eur", "E1R", "€€€"],
    send: (currency) => sendPrice(currency),
  },
  {
    field: "ProjectInput.name",
    accepted: ["Happy\nPaws", " x "],
    refused: ["\u2003", "a\0"],
    send: (name) => create("/projects", { name, slug: freshSlug() }),
  },
  {
    field: "ProjectInput.slug",
    accepted: ["a", "a-b", "0", "happy-paws-2", "a1-2b-c3"],
    refused: ["A", "-a", "a-", "a--b", "a_b", "a.b", "é", "a\n", " a"],
    send: (slug) => create("/projects", { name: "Happy Paws", slug }),
  },
  {
    field: "DomainInput.hostname",
    accepted: ["www.example.com", " Shop.Example.COM. ", "bücher.example", "xn--bcher-kva.example.org", "日本。example"],
    refused: [
      "https://a.example",
      "a.example/b",
      "a_b.example",
      "a b.example",
      "a@b.example",
      "*.a.example",
      "a.example:80",
      "a.exa\0mple",
      "a'.example",
    ],
    send: (hostname) => create(`/projects/${project}/domains`, { hostname }),
  },
  {
    field: "WebhookInput.url",
    accepted: ["https://hooks.example.com", "HTTPS://hooks.example.com/a b?c", "https://bücher.example/é"],
    refused: [
      "",
      "hooks.example.com",
      "https:hooks.example.com",
      " https://hooks.example.com",
      "ftp://a.example",
      "https://a.example/#b",
      "https://a.exa\tmple",
    ],
    send: (url) => create("/webhooks", { url }),
  },
  {
    field: "WebhookInput.types[]",
    accepted: ["*", "order.*", "pet.profile_updated"],
    refused: ["", "order", "order.", "*.created", "Order.created", " *", "order.created,pet.created"],
    send: (type) => create("/webhooks", { url: "https://hooks.example.com", types: [type] }),
  },
  {
    field: "KeyInput.expires",
    accepted: ["2099-01-31", "2099-01-31T10:00:00Z", "2099-01-31t10:00:00.25+01:00"],
    refused: ["", "tomorrow", "2099-1-31", "2099-01-31T10:00", "2099-01-31T10:00:00", " 2099-01-31", "2099-01-31Z"],
    send: (expires) => create("/keys", { expires }),
  },
  {
    field: "KeyInput.origins[]",
    accepted: ["https://shop.example", "HTTP://Shop.Example:8080/", "https://bücher.example", "http://[::1]:3000"],
    refused: [
      "",
      "shop.example",
      "https:shop.example",
      "https:///shop.example",
      "https://shop.example/a",
      "https://a@shop.example",
      "https://shop.example?",
      " https://shop.example",
    ],
    send: (origin) => create("/keys", { publishable: true, origins: [origin] }),
  },
];

async function sendContact(contact: object) {
  const order = await made<{ id: number }>(shop, "POST", "/store/orders", {});
  return shop.ask("PUT", `/store/orders/${order.id}/contact`, { body: contact });
}

async function sendPrice(currency: string) {
  const pet = await made<{ id: number }>(shop, "POST", "/pets", { name: "Rex", categoryId: category });
  return shop.ask("PUT", `/pets/${pet.id}/profile`, { body: { price: { amount: 1, currency } } });
}

let slugs = 0;
const freshSlug = (): string => `shop-${(slugs += 1)}`;

/** The pattern of a field of a model. */
function patternOf(field: string): string {
  const [model = "", name = ""] = field.split(".");
  const { properties } = document.components.schemas[model] as { properties: Record<string, Json> };
  const schema = dereferenced(properties[name.replace("[]", "")], document) as Json;
  return String((name.endsWith("[]") ? (schema["items"] as Json) : schema)["pattern"]);
}

for (const { field, accepted, refused, send } of fields) {
  test(`the pattern of ${field} matches what the service accepts, and not what it refuses for its form`, async () => {
    const pattern = new RegExp(patternOf(field), "u");
    for (const value of accepted) {
      const { status, body } = await send(value);
      assert.ok(status < 300, `${JSON.stringify(value)}: ${JSON.stringify(body)}`);
      assert.match(value, pattern);
    }
    for (const value of refused) {
      const { status, body } = await send(value);
      assert.equal(status, 400, JSON.stringify(value));
      assert.match((body as Failure).details?.[0]?.path ?? "", new RegExp(field.split(".")[1]!.replace("[]", "")), JSON.stringify(body));
      assert.doesNotMatch(value, pattern, JSON.stringify(value));
    }
  });
}

test("the pattern of an Idempotency-Key matches what the service accepts, and not what it refuses", async () => {
  const { parameters } = operationsIn(document).find(({ operationId }) => operationId === "createCategory")!;
  const pattern = new RegExp(String(parameters.find(({ name }) => name === "Idempotency-Key")?.schema["pattern"]), "u");
  const send = (key: string) => post("/categories", { name: "Cats" }, { "idempotency-key": key });
  for (const key of ["a", "~ !", "x".repeat(255)]) {
    assert.equal((await send(key)).status, 201, key);
    assert.match(key, pattern);
  }
  for (const key of ["é", "x".repeat(256)]) {
    assert.equal((await send(key)).status, 400, key);
    assert.doesNotMatch(key, pattern);
  }
});

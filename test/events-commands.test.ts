import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, test, type TestContext } from "node:test";
import { openClient } from "../client/client.ts";
import { events, type ShopEvent } from "../client/events.ts";
import { verifyWebhook } from "../client/webhooks.ts";
import { eventTypes } from "../src/platform/event-types.ts";
import { petstore, runCommand } from "./support/commands.ts";
import { startService, type TestService } from "./support/service.ts";
import { newCategory, newPet } from "./support/shop.ts";

let shop: TestService;
before(async () => {
  shop = await startService();
  const { id } = await newCategory(shop, "Dogs");
  for (const name of ["Rex", "Luna"]) await newPet(shop, id, { name });
});
after(() => shop.close());

const linesOf = (out: string): ShopEvent[] =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as ShopEvent);

test("events tail prints the events after a position, of the types asked for, and by default only new ones", async () => {
  const all = await petstore(shop, "events", "tail", "--after", "0", "--no-follow", "--json");
  assert.deepEqual([all.code, all.error], [0, ""]);
  const found = linesOf(all.out);
  assert.deepEqual(
    found.map(({ position }) => position),
    found.map((_, i) => i + 1),
  );
  const pets = await petstore(shop, "events", "tail", "--after", "0", "--types", "pet.*", "--no-follow");
  assert.match(pets.out, /^\d+ \S+ pet\.created pet 1 \S+\n\d+ \S+ pet\.created pet 2 \S+\n$/);
  const none = await petstore(shop, "events", "tail", "--no-follow");
  assert.deepEqual([none.code, none.out], [0, ""]);
  assert.equal((await petstore(shop, "events", "tail", "--after", "x", "--no-follow")).code, 2);
  assert.equal((await petstore(shop, "events", "tail", "--after", "999999", "--no-follow")).code, 2);
});

const secret = `whsec_${Buffer.from("a secret for this test alone").toString("base64")}`;

/** A program that verifies what it gets, and answers the first message with `first`. */
async function openReceiver(t: TestContext, first = 204) {
  const received: { id: unknown; message: Promise<ShopEvent> }[] = [];
  const server = createServer((request, response) => {
    const take = async (): Promise<void> => {
      received.push({ id: request.headers["webhook-id"], message: verifyWebhook(secret, request.headers, await text(request)) });
      response.writeHead(received.length === 1 ? first : 204).end();
    };
    void take();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { received, target: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks` };
}

test("listen sends each event signed like a webhook, in order, and again until the program accepts it", async (t) => {
  const { received, target } = await openReceiver(t, 500);
  const asked = ["--forward-to", target, "--secret", secret, "--after", "0", "--types", "pet.*", "--no-follow"];
  const sent = await petstore(shop, "listen", ...asked);
  assert.equal(sent.code, 0, sent.error);
  assert.equal(received.length, 3, "the first is sent twice");
  assert.equal(received[0]?.id, received[1]?.id);
  const messages = await Promise.all(received.map(({ message }) => message));
  assert.deepEqual(
    messages.map(({ type, data }) => [type, (data as { name: string }).name]),
    [
      ["pet.created", "Rex"],
      ["pet.created", "Rex"],
      ["pet.created", "Luna"],
    ],
  );
  for (const wrong of [["--forward-to", "ftp://x"], ["--forward-to", target, "--secret", "x"], []]) {
    assert.equal((await petstore(shop, "listen", ...wrong, "--no-follow")).code, 2, wrong.join(" "));
  }
});

test("listen and events trigger never print a secret that they were given, and print a new one only on a terminal or if asked", async (t) => {
  const server = createServer((_request, response) => response.writeHead(204).end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  const env = { PETSTORE_URL: shop.address, PETSTORE_KEY: shop.key };
  for (const command of [
    ["listen", "--no-follow"],
    ["events", "trigger", "pet.created"],
  ]) {
    const shown = async (isTTY: boolean, ...words: string[]): Promise<{ out: string; all: string; made: string[] }> => {
      const { code, out, error } = await runCommand([...command, "--forward-to", target, ...words], env, "", isTTY);
      assert.equal(code, 0, error);
      return { out, all: out + error, made: (out + error).match(/whsec_[\w+/=]+/g) ?? [] };
    };
    for (const isTTY of [false, true]) {
      for (const words of [[], ["--json"], ["--print-secret"], ["--print-secret", "--json"]]) {
        const given = await shown(isTTY, "--secret", secret, ...words);
        assert.ok(!given.all.includes("whsec_") && !given.all.includes(secret.slice(6)), words.join(" "));
        const { out, made } = await shown(isTTY, ...words);
        const isJson = words.includes("--json");
        assert.equal(made.length, words.includes("--print-secret") || (isTTY && !isJson) ? 1 : 0, `${isTTY} ${words.join(" ")}`);
        const lines = isJson && out !== "" ? out.trimEnd().split("\n") : [];
        const fields = lines.flatMap((line) => (JSON.parse(line) as { secret?: string }).secret ?? []);
        assert.deepEqual(fields, isJson ? made : []);
      }
    }
  }
});

test("the client's events continue where the last run ended, wait for the next one, and end when their signal aborts", async () => {
  const client = openClient({ url: shop.address, key: shop.key });
  const seen: ShopEvent[] = [];
  for await (const event of events(client, { after: 0, follow: false })) seen.push(event);
  const last = seen.at(-1)?.position ?? assert.fail();
  const ending = new AbortController();
  const waiting = (async () => {
    const later: ShopEvent[] = [];
    for await (const event of events(client, { after: last, signal: ending.signal })) {
      later.push(event);
      if (later.length === 2) ending.abort();
    }
    return later;
  })();
  await newCategory(shop, "Cats");
  await newCategory(shop, "Birds");
  const later = await waiting;
  assert.deepEqual(
    later.map(({ position, type }) => [position, type]),
    [
      [last + 1, "category.created"],
      [last + 2, "category.created"],
    ],
  );
});

test("the client's events of some types go on although all events after the last of them are deleted, unless it has not looked for an hour", async (t) => {
  const asked: (string | null)[] = [];
  let hoursApart = 0;
  const expired = { code: "events_expired", message: "Events after 1 are deleted.", status: 410 };
  const server = createServer(({ url = "" }, response) => {
    const position = new URL(url, "http://shop").searchParams.get("after");
    asked.push(position);
    const isExpired = position === "1" && asked.length > 1;
    const found = position === "9" ? [{ position: 12, type: "order.created" }] : [];
    response.setHeader("date", new Date(Date.UTC(2027, 0, 1, asked.length * hoursApart)).toUTCString());
    response.writeHead(isExpired ? 410 : 200, { "content-type": "application/json", ...(isExpired && { "events-oldest": "10" }) });
    response.end(JSON.stringify(isExpired ? expired : found));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const client = openClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: "k" });
  const first = async () => {
    for await (const event of events(client, { after: 1, types: ["order.*"] })) return event.position;
    return undefined;
  };
  assert.deepEqual([await first(), asked], [12, ["1", "1", "9"]]);
  await assert.rejects(first, { code: "events_expired" });
  asked.length = 0;
  hoursApart = 1;
  await assert.rejects(first, { code: "events_expired" });
  assert.deepEqual(asked, ["1", "1"]);
});

test("events trigger sends one made-up event of a type with its resource, signed like a webhook, and changes nothing", async (t) => {
  const { received, target } = await openReceiver(t);
  const position = async () => (await shop.ask<{ position: number }>("GET", "/events/checkpoint")).body.position;
  const newest = await position();
  const trigger = (...words: string[]) => petstore(shop, "events", "trigger", ...words, "--forward-to", target, "--secret", secret);
  for (const type of [...eventTypes, "webhook.test"]) {
    const { code, out, error } = await trigger(type, "--json");
    assert.deepEqual([code, error], [0, ""], type);
    const { message, id } = received.at(-1) ?? assert.fail();
    const sent = await message;
    const shown = JSON.parse(out) as { id: string; data: object; status: number };
    assert.deepEqual([sent.type, sent.id, sent.data, id, shown.status], [type, shown.id, shown.data, shown.id, 204]);
    if (type !== "webhook.test") assert.ok(sent.position === 0 && sent.resource.id !== undefined, type);
  }
  assert.equal(await position(), newest);
  const completed = await trigger("order.completed", "--json");
  assert.equal((JSON.parse(completed.out) as { data: { complete: boolean } }).data.complete, true);
  const unknown = await trigger("order.eaten");
  assert.deepEqual([unknown.code, /order\.created/.test(unknown.error)], [2, true]);
  const away = await petstore(shop, "events", "trigger", "pet.created", "--forward-to", "http://127.0.0.1:9/");
  assert.deepEqual([away.code, /did not accept the event/.test(away.error)], [6, true]);
  const noService = await petstore(shop, "events", "trigger", "pet.created", "--forward-to", target, "--url", "http://127.0.0.1:9");
  assert.deepEqual([noService.code, /openapi\.json/.test(noService.error)], [6, true]);
});

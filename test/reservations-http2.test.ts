import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2, type ClientHttp2Session, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import { text } from "node:stream/consumers";
import { after, before, suite, test } from "node:test";
import { openTls } from "./support/certifying.ts";
import { openCustomer, type Customer } from "./support/customer.ts";
import type { InventoryItem } from "./support/models.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import { ann, hiddenIn } from "./support/reservations.ts";
import { made, newCategory, newPet } from "./support/shop.ts";

const host = "www.alpha.test";
type Reply = { status: number; headers: IncomingHttpHeaders; body: string };
type Reservation = { orderId?: number; state: string };

suite("the forms of a storefront over HTTP/2 with TLS", () => {
  let platform: Platform;
  let shop: Customer;
  let session: ClientHttp2Session;
  let petId: number;
  let path: string;
  before(async () => {
    platform = await openPlatform();
    shop = await openCustomer(platform, "alpha");
    ({ id: petId } = await newPet(platform.service, (await newCategory(platform.service, "Dogs", shop.key)).id, {}, shop.key));
    path = `/animals/${petId}/reserve`;
    await made(platform.service, "PUT", `/store/inventory/${petId}`, { quantity: 2 }, shop.key);
    await platform.deploy(
      shop.project,
      {},
      { key: shop.key, petstore: { name: "Alpha", storefront: { reservations: { enabled: true } } } },
    );
    await shop.attach(host);
    await connect();
  });
  after(async () => {
    session.destroy();
    await platform.close();
  });

  async function connect(): Promise<void> {
    const socket = await openTls(platform, host, { maxVersion: "TLSv1.3", ALPNProtocols: ["h2"] });
    session = connectHttp2(`https://${host}`, { createConnection: () => socket });
    session.on("error", () => undefined);
  }

  async function ask(at: string, headers: OutgoingHttpHeaders = {}, body?: string): Promise<Reply> {
    const stream = session.request({ ":path": at, ...headers }, { endStream: body === undefined });
    const answered = once(stream, "response") as Promise<[IncomingHttpHeaders]>;
    if (body !== undefined) stream.end(body);
    const [got] = await answered;
    return { status: Number(got[":status"]), headers: got, body: await text(stream) };
  }

  /** Sends a form as a browser does from a page of the site; an empty header is left out. */
  function post(at: string, fields: Record<string, string>, more: Record<string, string> = {}): Promise<Reply> {
    const body = new URLSearchParams(fields).toString();
    const headers = {
      ":method": "POST",
      "content-type": "application/x-www-form-urlencoded",
      "content-length": `${Buffer.byteLength(body)}`,
      origin: `https://${host}`,
      "sec-fetch-site": "same-origin",
      ...more,
    };
    return ask(at, Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== "")), body);
  }

  /** The hidden fields of a form that a person has looked at for some seconds. */
  async function openedForm(): Promise<Record<string, string>> {
    const { status, body } = await ask(path);
    assert.equal(status, 200);
    platform.time.now += 5_000;
    return hiddenIn(body);
  }

  const units = async () => (await made<InventoryItem>(platform.service, "GET", `/store/inventory/${petId}`, undefined, shop.key)).quantity;
  const listed = () => made<Reservation[]>(platform.service, "GET", "/reservations", undefined, shop.key);

  test("a form from another site, or with a Content-Length that is missing, wrong or too large, is refused and reserves nothing", async () => {
    const fields = { ...(await openedForm()), ...ann };
    const foreign: [Record<string, string>, number][] = [
      [{ origin: "https://evil.example", "sec-fetch-site": "cross-site" }, 403],
      [{ origin: "https://evil.example", "sec-fetch-site": "" }, 403],
      [{ origin: "https://evil.example", "sec-fetch-site": "same-origin" }, 403],
      [{ origin: `https://other.alpha.test`, "sec-fetch-site": "same-site" }, 403],
      [{ origin: "null", "sec-fetch-site": "" }, 403],
      [{ origin: "", "sec-fetch-site": "" }, 403],
      [{ "content-type": "text/plain" }, 413],
      [{ "content-length": "" }, 413],
    ];
    for (const [headers, status] of foreign) assert.equal((await post(path, fields, headers)).status, status, JSON.stringify(headers));
    assert.equal((await post(path, { ...fields, note: "x".repeat(20_000) })).status, 413);
    const length = new URLSearchParams(fields).toString().length;
    for (const wrong of [length - 10, length + 10]) {
      await assert.rejects(post(path, fields, { "content-length": `${wrong}` }), { code: /^ERR_HTTP2_/ }, "RFC 9113, 8.1.1");
      session.destroy();
      await connect();
    }
    assert.equal((await post("/", fields)).status, 405, "no other path takes a form");
    assert.deepEqual([await units(), await listed()], [2, []]);
  });

  test("a visitor reserves, sees the page of the link, cancels there, and asks", async () => {
    const reserved = await post(path, { ...(await openedForm()), ...ann });
    const link = String(reserved.headers["location"]);
    assert.deepEqual([reserved.status, /^\/reservations\/[\w-]{43}$/.test(link), await units()], [303, true, 1]);
    const page = await ask(link);
    assert.deepEqual([page.status, page.headers["cache-control"], page.headers["referrer-policy"]], [200, "no-store", "same-origin"]);
    for (const headers of [
      { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
      { origin: "null", "sec-fetch-site": "" },
    ])
      assert.equal((await post(link, { cancel: "yes" }, headers)).status, 403);
    assert.equal(await units(), 1);
    // the page of a link hides its address, so its form has no origin
    const cancelled = await post(link, { cancel: "yes" }, { origin: "null" });
    assert.deepEqual([cancelled.status, cancelled.headers["location"], await units()], [303, link, 2]);
    assert.ok((await ask(link)).body.includes("You cancelled"));
    assert.equal((await post(path, { ...(await openedForm()), ...ann, ask: "yes" })).status, 303);
    const states = (await listed()).map(({ state, orderId }) => [state, orderId !== undefined]);
    assert.deepEqual(
      [states, await units()],
      [
        [
          ["cancelled", true],
          ["open", false],
        ],
        2,
      ],
    );
  });
});

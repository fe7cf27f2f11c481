import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import { dayMs, hourMs } from "../src/platform/clock.ts";
import { lapseReservations } from "../src/store/reservations/reservation-answers.store.ts";
import { expireReservations } from "../src/store/reservations/reservations.store.ts";
import { settingsOf } from "./support/backups.ts";
import { runCommand } from "./support/commands.ts";
import { loggedEvents } from "./support/event-log.ts";
import type { Pet } from "./support/models.ts";
import { reservationShops, type Reservation, type Shop } from "./support/reservation-shops.ts";
import { ann, openForm, postForm } from "./support/reservations.ts";
import { startService, type TestService } from "./support/service.ts";
import { made, newPet } from "./support/shop.ts";
import { packSite } from "./support/sites.ts";
import { visitSite } from "./support/storefront.ts";

let service: TestService;
const { clock, openShop, reserve, listed, units, answer, asAnother } = reservationShops(() => service);
before(async () => void (service = await startService({ clock: () => clock.now })));
after(() => service.close());

const typesOf = async ({ account }: Shop) =>
  (await loggedEvents(service.db, account)).map(({ type }) => type).filter((type) => /^(reservation|order)\./.test(type));
const lapse = () => lapseReservations(service.db, clock.now, (error) => assert.fail(String(error)));

test("a visitor reserves an animal whose stock is counted: an order holds one unit for the shop's period, and has the contact", async () => {
  const shop = await openShop(2, { enabled: true, holdHours: 24, text: "Bring a leash." });
  const form = await visitSite(shop.url, `/animals/${shop.petId}/reserve`);
  assert.equal(form.status, 200);
  for (const words of ["Reserve Rex &#60;b&#62;", "24 hours", "Bring a leash."]) assert.ok(form.body.includes(words), words);
  assert.deepEqual([form.headers["cache-control"], form.headers["x-robots-tag"]], ["no-store", "noindex"]);
  const sent = await reserve(shop);
  assert.equal(sent.status, 303);
  const [own] = await listed(shop, "?state=open");
  assert.deepEqual(
    [own!.petId, own!.state, Date.parse(own!.lapsesAt!) - clock.now, await units(shop)],
    [shop.petId, "open", 24 * hourMs, 1],
  );
  const order = await made<object>(service, "GET", `/store/orders/${own!.orderId}`, undefined, shop.key);
  assert.partialDeepStrictEqual(order, { petId: shop.petId, quantity: 1, complete: false });
  const placed = sql`SELECT placed_at FROM orders WHERE account_id = ${shop.account} AND id = ${own!.orderId}`;
  assert.deepEqual(await service.db.query(placed), [{ placed_at: clock.now }]);
  const contact = await made<object>(service, "GET", `/store/orders/${own!.orderId}/contact`, undefined, shop.key);
  assert.deepEqual(contact, { name: ann.name, email: ann.email, note: ann.note });
  assert.deepEqual(await typesOf(shop), ["order.created", "reservation.created"]);
  const events = JSON.stringify(await loggedEvents(service.db, shop.account));
  assert.ok(!events.includes("Ann") && !events.includes("ann@"), "no event has personal data");
});

test("the link shows the state in UTC, tells no other site its address, is in no index, cancels, and is stored as a hash", async () => {
  const shop = await openShop(1, { enabled: true, text: "Bring a leash." });
  const { headers } = await reserve(shop);
  const path = String(headers["location"]);
  assert.match(path, /^\/reservations\/[\w-]{43}$/);
  const page = await visitSite(shop.url, path);
  const toSelf = `body=${encodeURIComponent(shop.url.replace(/\/$/, "") + path)}"`;
  for (const words of [
    " UTC</strong>",
    "Cancel the reservation",
    "Bring a leash.",
    `href="tel:123456"`,
    `href="/animals/${shop.petId}"`,
    toSelf,
  ])
    assert.ok(page.body.includes(words), words);
  assert.deepEqual(
    ["referrer-policy", "x-robots-tag", "cache-control"].map((name) => page.headers[name]),
    ["same-origin", "noindex", "no-store"],
  );
  const rows = JSON.stringify(await service.db.query(sql`SELECT * FROM reservations WHERE account_id = ${shop.account}`));
  assert.ok(!rows.includes(path.split("/")[2]!) && !rows.includes("127.0.0.1"));
  assert.equal((await visitSite(shop.url, `/reservations/${"a".repeat(43)}`)).status, 404);
  // A page that hides its address sends no origin
  const cancelled = await postForm(shop.url, path, { cancel: "yes" }, { origin: "null" });
  assert.deepEqual([cancelled.status, cancelled.headers["location"], await units(shop)], [303, path, 1]);
  assert.ok((await visitSite(shop.url, path)).body.includes("You cancelled"));
  assert.deepEqual(await typesOf(shop), ["order.created", "reservation.created", "reservation.cancelled", "order.cancelled"]);
  assert.equal((await postForm(shop.url, path, { cancel: "yes" })).status, 303, "again changes nothing");
  assert.equal((await typesOf(shop)).length, 4);
});

test("for any other animal it is an enquiry, which holds nothing, and whose contact only contacts:read shows", async () => {
  const shop = await openShop(null);
  assert.equal((await reserve(shop)).status, 303);
  const [own] = await listed(shop);
  assert.deepEqual([own!.orderId, own!.contact, Date.parse(own!.lapsesAt!) - clock.now], [undefined, undefined, 30 * dayMs]);
  assert.deepEqual(await made(service, "GET", "/store/orders", undefined, shop.key), []);
  const path = `/reservations/${own!.id}`;
  const shown = await made<Reservation>(service, "GET", path, undefined, shop.key);
  assert.deepEqual(shown.contact, { name: ann.name, email: ann.email, note: ann.note });
  const { key } = await service.administration["keys.create"]({ account: shop.account, scopes: ["orders:read", "orders:write"] });
  assert.equal((await service.ask<Reservation>("GET", path, { key })).body.contact, undefined);
  assert.equal((await service.ask("PATCH", path, { key, body: { contact: null } })).status, 403);
  for (const body of [{ contact: { name: "Eve" } }, { state: "lapsed" }]) assert.equal((await answer(shop, own!.id, body)).status, 400);
  const accepted = await answer(shop, own!.id, { state: "accepted", contact: null });
  assert.deepEqual([accepted.status, accepted.body.state, accepted.body.contact], [200, "accepted", undefined]);
  assert.equal((await made<Reservation>(service, "GET", path, undefined, shop.key)).contact, undefined);
});

test("a visitor may only ask about an animal that could be held: that is an enquiry, and holds nothing", async () => {
  const shop = await openShop(1);
  const { body } = await visitSite(shop.url, `/animals/${shop.petId}/reserve`);
  assert.match(body, /<button [^>]*name="ask" value="yes">Only ask<\/button>/);
  assert.equal((await reserve(shop, { ask: "yes" })).status, 303);
  assert.deepEqual(
    (await listed(shop)).map(({ orderId }) => orderId),
    [undefined],
  );
  assert.equal(await units(shop), 1);
});

test("each change of a reservation is one event, and one that follows its order to another animal or its end shows that to the visitor", async () => {
  const shop = await openShop(2);
  const { categoryId } = await made<Pet>(service, "GET", `/pets/${shop.petId}`, undefined, shop.key);
  const { id: bella } = await newPet(service, categoryId, { name: "Bella" }, shop.key);
  await made(service, "PUT", `/store/inventory/${bella}`, { quantity: 1 }, shop.key);
  const links = [await reserve(shop), await reserve(shop)].map(({ headers }) => String(headers["location"]));
  const [first, second] = (await listed(shop)) as [Reservation, Reservation];
  const lapsesAt = new Date(clock.now + 100 * hourMs).toISOString().replace(/\.\d+Z/, "Z");
  const order = (own: Reservation, body: object) => made(service, "PATCH", `/store/orders/${own.orderId}`, body, shop.key);
  const changes: [change: () => Promise<unknown>, events: [type: string, data: object, previous: object][]][] = [
    [() => answer(shop, first.id, { lapsesAt }), [["reservation.updated", { lapsesAt }, { lapsesAt: first.lapsesAt }]]],
    [() => answer(shop, first.id, { lapsesAt, state: "open" }), []],
    [() => answer(shop, first.id, { state: "accepted" }), [["reservation.accepted", {}, { state: "open", lapsesAt }]]],
    [() => order(first, { complete: true }), [["reservation.updated", { state: "accepted" }, { endedAt: null }]]],
    [() => order(first, { shipDate: "2027-01-01T00:00:00Z" }), []],
    [
      () => order(second, { petId: bella }),
      [["reservation.accepted", { petId: bella }, { petId: shop.petId, state: "open", lapsesAt: second.lapsesAt }]],
    ],
    [() => order(second, { shipDate: "2027-01-01T00:00:00Z" }), []],
    [() => order(second, { petId: shop.petId }), [["reservation.updated", { petId: shop.petId }, { petId: bella }]]],
    [() => order(second, { petId: null }), []],
    [() => order(second, { petId: bella }), [["reservation.updated", { petId: bella }, { petId: shop.petId }]]],
  ];
  let seen = (await loggedEvents(service.db, shop.account)).length;
  for (const [i, [change, expected]] of changes.entries()) {
    await change();
    const events = (await loggedEvents(service.db, shop.account)).slice(seen);
    seen += events.length;
    const ofReservations = events.filter(({ resource }) => resource.type === "reservation");
    assert.deepEqual(
      ofReservations.map(({ type, previous }) => [type, previous]),
      expected.map(([type, , previous]) => [type, previous]),
      `change ${i}`,
    );
    for (const [n, [, data]] of expected.entries()) assert.partialDeepStrictEqual(ofReservations[n]!.data, data);
  }
  const pages = await Promise.all(links.map(async (link) => (await visitSite(shop.url, link)).body));
  assert.match(pages[0]!, /<h1>Rex &#60;b&#62; was handed over<\/h1>\s*<p>You have collected it/);
  assert.ok(!pages[0]!.includes("waits for you") && !pages[0]!.includes("Cancel the"));
  assert.match(pages[1]!, /<h1>Bella is yours to collect<\/h1>\s*<p>The shop has confirmed it. It waits for you./);

  const verified = async () => {
    const { out } = await runCommand(["verify", "--events", "--json"], await settingsOf(service.dataDir));
    return (JSON.parse(out) as { faults: string[] }).faults.filter((fault) => fault.startsWith("reservation/"));
  };
  assert.deepEqual(await verified(), []);
  await expireReservations(service.db, clock.now + 181 * dayMs);
  assert.deepEqual([(await listed(shop)).length, await verified()], [1, []], "the shop's period deletes an ended one without an event");
  await service.db.write((tx) => tx.query(sql`UPDATE reservations SET pet_id = ${shop.petId} WHERE account_id = ${shop.account}`));
  assert.match((await verified()).join(), /reservation\/\d+ of account \d+ is not as its newest event/);
  await service.db.write((tx) => tx.query(sql`DELETE FROM reservations WHERE account_id = ${shop.account}`));
  assert.match((await verified()).join(), /reservation\/\d+ of account \d+ is gone/, "an open one does not go");
});

test("two visitors who want the last unit at once: one has it, and the other may still ask", async () => {
  const shop = await openShop(1);
  const forms = await Promise.all([openForm(shop.url, shop.petId), openForm(shop.url, shop.petId)]);
  clock.now += 5_000;
  const send = (hidden: object) => postForm(shop.url, `/animals/${shop.petId}/reserve`, { ...hidden, ...ann });
  const replies = await Promise.all(forms.map(send));
  assert.deepEqual(replies.map(({ status }) => String(status)).toSorted(), ["303", "409"]);
  assert.equal(await units(shop), 0);
  const { body } = replies.find(({ status }) => status === 409)!;
  assert.ok(body.includes("Somebody else was faster") && body.includes("ann@example.com"), "what was written stays");
  const asked = await reserve(shop);
  assert.equal(asked.status, 303);
  assert.deepEqual(
    (await listed(shop)).map(({ orderId }) => orderId === undefined),
    [false, true],
  );
});

test("a form that is sent twice reserves once", async () => {
  const shop = await openShop(5);
  const hidden = await openForm(shop.url, shop.petId);
  clock.now += 5_000;
  const send = () => postForm(shop.url, `/animals/${shop.petId}/reserve`, { ...hidden, ...ann });
  const replies = await Promise.all([send(), send(), send()]);
  assert.equal(new Set(replies.map(({ headers }) => headers["location"])).size, 1);
  assert.equal(await units(shop), 4);
});

test("forms of other sites, of robots and of nobody are refused, and reserve nothing", async () => {
  const shop = await openShop(5);
  const path = `/animals/${shop.petId}/reserve`;
  const hidden = await openForm(shop.url, shop.petId);
  const early = await postForm(shop.url, path, { ...hidden, ...ann });
  assert.ok(early.status === 422 && early.body.includes("very quick"));
  clock.now += 5_000;
  const fields = { ...hidden, ...ann };
  const foreign: [Record<string, string>, number][] = [
    [{ origin: "https://evil.example", "sec-fetch-site": "cross-site" }, 403],
    [{ origin: "https://evil.example", "sec-fetch-site": "" }, 403],
    [{ origin: "null", "sec-fetch-site": "" }, 403],
    [{ origin: "", "sec-fetch-site": "" }, 403],
    [{ "sec-fetch-site": "same-site" }, 403],
    [{ "content-type": "text/plain" }, 413],
    [{ "content-type": "multipart/form-data; boundary=x" }, 413],
  ];
  for (const [headers, status] of foreign)
    assert.equal((await postForm(shop.url, path, fields, headers)).status, status, JSON.stringify(headers));
  assert.equal((await postForm(shop.url, path, { ...fields, note: "x".repeat(20_000) })).status, 413);
  const wrong: [Record<string, string>, string][] = [
    [{ website: "https://spam.example" }, "very quick"],
    [{ token: hidden["token"]!.replace(/.$/, (last) => (last === "A" ? "B" : "A")) }, "long time"],
    [{ token: "" }, "long time"],
    [{ name: "" }, "Please enter your name."],
    [{ email: "" }, "email address or a telephone number"],
    [{ email: "ann" }, "whole email address"],
    [{ note: "x".repeat(1_001) }, "at most 1000"],
  ];
  for (const [more, words] of wrong) {
    const { status, body } = await postForm(shop.url, path, { ...fields, ...more });
    assert.ok(status === 422 && body.includes(words), words);
  }
  clock.now += 13 * hourMs;
  assert.ok((await postForm(shop.url, path, fields)).body.includes("long time"));
  assert.deepEqual([await units(shop), await listed(shop)], [5, []]);
  assert.equal((await postForm(shop.url, "/", fields)).status, 405, "no other path takes a form");
});

test("what the shop does with the order ends the reservation: completing and changing it accept, deleting it refuses", async () => {
  const shop = await openShop(3);
  for (let i = 0; i < 3; i++) {
    await reserve(shop);
    await asAnother(shop);
  }
  const [completed, changed, deleted] = (await listed(shop)) as [Reservation, Reservation, Reservation];
  const order = (own: Reservation) => `/store/orders/${own.orderId}`;
  await made(service, "PATCH", order(completed), { complete: true }, shop.key);
  await made(service, "PATCH", order(changed), { shipDate: "2027-01-01T00:00:00Z" }, shop.key);
  await service.ask("DELETE", order(deleted), { key: shop.key });
  const states = (await listed(shop)).map(({ state, endedAt }) => [state, endedAt !== undefined]);
  assert.deepEqual(states, [
    ["accepted", true],
    ["accepted", false],
    ["refused", true],
  ]);
  clock.now += 60 * hourMs;
  await lapse();
  assert.deepEqual(
    (await listed(shop)).map(({ state }) => state),
    ["accepted", "accepted", "refused"],
    "an accepted one lapses no more",
  );
  assert.equal(await units(shop), 1);
});

test("the shop accepts, changes and refuses; refusing frees the unit, even of an accepted one, until its order is complete", async () => {
  const shop = await openShop(2);
  for (let i = 0; i < 2; i++) await reserve(shop);
  const [first, second] = (await listed(shop)) as [Reservation, Reservation];
  const later = new Date(clock.now + 100 * hourMs).toISOString();
  assert.equal((await answer(shop, first.id, { lapsesAt: later })).body.lapsesAt, later.replace(".000Z", "Z"));
  for (const lapsesAt of ["2020-01-01T00:00:00Z", new Date(clock.now + 31 * dayMs).toISOString()])
    assert.equal((await answer(shop, first.id, { lapsesAt })).status, 400);
  const accepted = await answer(shop, first.id, { state: "accepted" });
  assert.deepEqual([accepted.body.state, accepted.body.lapsesAt, accepted.body.endedAt], ["accepted", undefined, undefined]);
  const etag = accepted.headers.get("etag")!;
  assert.equal(
    (
      await service.ask("PATCH", `/reservations/${first.id}`, {
        key: shop.key,
        body: { state: "refused" },
        headers: { "if-match": '"v0"' },
      })
    ).status,
    412,
  );
  assert.ok(etag);
  assert.equal((await answer(shop, first.id, { state: "refused" })).body.state, "refused");
  assert.equal(await units(shop), 1);
  assert.equal((await answer(shop, first.id, { state: "accepted" })).body.code, "reservation_ended");
  await answer(shop, second.id, { state: "accepted" });
  await made(service, "PATCH", `/store/orders/${second.orderId}`, { complete: true }, shop.key);
  assert.equal((await answer(shop, second.id, { state: "refused" })).body.code, "reservation_ended");
  assert.equal((await answer(shop, 999_999_999, { state: "refused" })).status, 404);
});

test("a reservation lapses after its time, with an event; one that fails or is gone does not delay the others", async () => {
  const some = [await openShop(1), await openShop(1), await openShop(1)] as [Shop, Shop, Shop];
  for (const shop of some) await reserve(shop);
  await lapse();
  assert.equal(await units(some[0]), 0, "not before its time");
  clock.now += 49 * hourMs;
  // The first cannot lapse: its order holds more than the stock counts
  await service.db.write((tx) => tx.query(sql`UPDATE inventory SET held = 0, quantity = 2147483647 WHERE account_id = ${some[0].account}`));
  await service.db.write((tx) => tx.query(sql`DELETE FROM orders WHERE account_id = ${some[1].account}`));
  const errors: unknown[] = [];
  await lapseReservations(service.db, clock.now, (error) => errors.push(error));
  const states = await Promise.all(some.map(async (shop) => (await listed(shop))[0]!.state));
  assert.deepEqual([errors.length, states], [1, ["open", "refused", "lapsed"]]);
  assert.equal(await units(some[2]), 1);
  assert.ok((await typesOf(some[2])).includes("reservation.lapsed"));
  await service.db.write((tx) => tx.query(sql`UPDATE inventory SET held = 1, quantity = 0 WHERE account_id = ${some[0].account}`));
  await lapse();
  assert.equal((await listed(some[0]))[0]!.state, "lapsed", "the next sweep tries again");
});

test("reservations that ended are deleted after the shop's period, and the contacts of enquiries with them", async () => {
  const shop = await openShop(null);
  await reserve(shop);
  const [own] = await listed(shop);
  await answer(shop, own!.id, { state: "refused" });
  await expireReservations(service.db, clock.now + 179 * dayMs);
  assert.equal((await listed(shop)).length, 1);
  await expireReservations(service.db, clock.now + 181 * dayMs);
  assert.deepEqual(await listed(shop), []);
  assert.deepEqual(await service.db.query(sql`SELECT 1 FROM reservations WHERE account_id = ${shop.account}`), []);
});

test("without the switch there is no form, and an earlier link still works", async () => {
  const shop = await openShop(1, { enabled: false });
  assert.equal((await visitSite(shop.url, `/animals/${shop.petId}/reserve`)).status, 404);
  assert.ok(!(await visitSite(shop.url, `/animals/${shop.petId}`)).body.includes("/reserve"));
  const on = await openShop(1);
  assert.ok((await visitSite(on.url, `/animals/${on.petId}`)).body.includes(`href="/animals/${on.petId}/reserve"`));
  assert.equal((await visitSite(on.url, "/animals/999999/reserve")).status, 404);
  await made(service, "PATCH", `/store/orders/${(await reserve(on), (await listed(on))[0]!.orderId)}`, { complete: true }, on.key);
  assert.equal((await visitSite(on.url, `/animals/${on.petId}/reserve`)).status, 410, "a sold animal");
});

test("the live settings decide: an earlier deployment takes no reservations at its own address, even in a form that was open before", async () => {
  const shop = await openShop(1, { enabled: true, holdHours: 720 });
  const [project] = await made<{ id: number; deploymentId: number }[]>(service, "GET", "/projects", undefined, shop.key);
  const path = `/projects/${project!.id}/deployments`;
  const { url } = await made<{ url: string }>(service, "GET", `${path}/${project!.deploymentId}`, undefined, shop.key);
  const hidden = await openForm(url, shop.petId);
  clock.now += 5_000;
  const send = () => postForm(url, `/animals/${shop.petId}/reserve`, { ...hidden, ...ann });
  const live = await send();
  assert.equal(live.status, 303, "the live deployment takes them at its own address too");
  const link = String(live.headers["location"]);
  const body = await packSite({ "petstore.json": JSON.stringify({ storefront: { reservations: { enabled: false } } }) });
  await service.ask("POST", path, { body, headers: { "content-type": "application/gzip" }, key: shop.key });
  await service.publishing.idle();
  for (const { status, body: shown } of [await visitSite(url, `/animals/${shop.petId}/reserve`), await send()])
    assert.ok(status === 404 && shown.includes("This shop takes no reservations here."), shown.slice(0, 200));
  const animal = await visitSite(url, `/animals/${shop.petId}`);
  assert.deepEqual([animal.status, animal.body.includes("/reserve")], [200, false]);
  assert.equal((await listed(shop)).length, 1);
  assert.equal((await postForm(url, link, { cancel: "yes" })).status, 303, "a visitor still cancels there");
  assert.equal(await units(shop), 1);
});

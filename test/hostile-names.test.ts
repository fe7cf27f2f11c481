import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { openScene, openTls } from "./support/certifying.ts";
import { clientHello, sendHello } from "./support/client-hello.ts";
import { openCustomer, type Customer } from "./support/customer.ts";
import { temporaryFolder } from "./support/folder.ts";
import { hostileNames, lookalikes } from "./support/hostile-names.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import { sendRaw } from "./support/raw.ts";
import { throwAwayCertificate } from "./support/test-edge.ts";

const own = "www.alpha.test";
const international = "www.xn--bcher-kva.test";
const anothers = "www.beta.test";
const refusals = new Set([400, 404, 421, 431]);

const hostile = [...hostileNames, ...lookalikes];

/** Spellings of the same name. */
const spellings = (name: string): string[] => [
  name,
  name.toUpperCase(),
  `${name}.`,
  `${name}:80`,
  `${name.toUpperCase()}.:65535`,
  `${name}:`,
];

suite("whatever name a request comes with", () => {
  let platform: Platform;
  let alpha: Customer;
  let beta: Customer;
  before(async () => {
    platform = await openPlatform();
    alpha = await openCustomer(platform, "alpha");
    beta = await openCustomer(platform, "beta");
    for (const name of [own, international]) await alpha.attach(name);
    await beta.attach(anothers);
  });
  after(() => platform.close());

  const ports = () => platform.service.publishing.addresses()!;
  const request = (host: string): Buffer => Buffer.from(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const plain = (host: string) => sendRaw(`http://127.0.0.1:${ports().http.port}`, request(host));

  async function secure(host: string): Promise<{ status: number; body: string }> {
    const socket = await openTls(platform, own, { maxVersion: "TLSv1.3", ALPNProtocols: ["http/1.1"] });
    socket.write(request(host));
    const bytes = Buffer.concat(await Array.fromAsync(socket as AsyncIterable<Buffer>).catch(() => []));
    const [head = "", body = ""] = bytes.toString().split("\r\n\r\n");
    return { status: Number(head.split(" ")[1]), body };
  }

  /** A refusal in the edge's own words: never an internal error, and never a page of any site. */
  function requireRefusal({ status, body }: { status: number; body: string }, host: string): void {
    assert.ok(refusals.has(status), `${status} for ${JSON.stringify(host.slice(0, 80))}`);
    assert.ok(!body.includes(alpha.page) && !body.includes(beta.page), `a page for ${JSON.stringify(host.slice(0, 80))}`);
  }

  test("over HTTP the page of a site goes to its own name, in any spelling, and to nothing else", async () => {
    for (const host of spellings("alpha.sites.test")) assert.deepEqual((await plain(host)).body, alpha.page, host);
    for (const host of spellings(own)) {
      const { status, headers } = await plain(host);
      assert.deepEqual([status, headers["location"]], [308, `https://${own}:${ports().https!.port}/`], host);
    }
    for (const host of hostile) requireRefusal(await plain(host), host);
  });

  test("over HTTPS it has to be the name that the connection was made for", async () => {
    for (const host of spellings(own)) assert.deepEqual((await secure(host)).body, alpha.page, host);
    for (const host of hostile) requireRefusal(await secure(host), host);
    for (const host of [anothers, international, "alpha.sites.test", "beta.sites.test", "alpha.test", "localhost", "127.0.0.1"]) {
      assert.equal((await secure(host)).status, 421, host);
    }
  });

  test("over HTTP/2 too, and another customer's name on the same connection is misdirected", async () => {
    const socket = await openTls(platform, own, { maxVersion: "TLSv1.3", ALPNProtocols: ["h2"] });
    const session = connectHttp2(`https://${own}`, { createConnection: () => socket });
    session.on("error", () => undefined);
    async function ask(authority: string): Promise<{ status: number; body: string }> {
      const stream = session.request({ ":path": "/", ":authority": authority });
      const [headers] = (await once(stream, "response")) as [{ ":status": number }];
      return { status: headers[":status"], body: Buffer.concat((await Array.fromAsync(stream)) as Buffer[]).toString() };
    }
    for (const host of spellings(own)) assert.equal((await ask(host)).body, alpha.page, host);
    for (const host of [anothers, international, "alpha.sites.test", "localhost", "[::1]"])
      assert.equal((await ask(host)).status, 421, host);
    for (const host of ["a..b", "*", "__proto__", "www.alpha.test:99999"]) requireRefusal(await ask(host), host);
    await assert.rejects(ask(`${anothers}@${own}`), /PROTOCOL_ERROR/, "no user information in an authority (RFC 9113, 8.3.1)");
    assert.equal((await ask(own)).body, alpha.page, "the connection goes on");
    session.close();
  });

  test("in SNI, a certificate is shown for its own name in any case, and to no other name, however odd", async () => {
    const { port } = ports().https!;
    const say = (name: string | Buffer) => sendHello(port, clientHello(Buffer.from(name)));
    for (const name of [own, own.toUpperCase(), `${own}.`, international, anothers]) assert.equal(await say(name), "certificate", name);
    for (const name of hostile) assert.notEqual(await say(name), "certificate", JSON.stringify(name.slice(0, 80)));
    for (const name of ["alpha.sites.test", `${own}:443`]) assert.notEqual(await say(name), "certificate", name);
    for (const bytes of [
      Buffer.alloc(15_000, "a"),
      Buffer.alloc(300, 0),
      Buffer.from("fffefd", "hex"),
      Buffer.from(`${own}\0.evil.test`),
    ]) {
      assert.notEqual(await say(bytes), "certificate");
    }
    assert.notEqual(await sendHello(port, clientHello(null)), "certificate", "no name");
    assert.notEqual(await sendHello(port, request(own)), "certificate", "HTTP where TLS is spoken");
    assert.equal((await platform.https(own, "/")).body, alpha.page, "and all goes on");
  });
});

test("the operator's wildcard certificate serves projects below the platform's domain over HTTPS, and no order is made for them", async (t) => {
  const folder = temporaryFolder(t);
  const { cert, key } = throwAwayCertificate("*.sites.test");
  const [EDGE_CERT_FILE, EDGE_KEY_FILE] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(EDGE_CERT_FILE, cert);
  writeFileSync(EDGE_KEY_FILE, key);
  const { platform, project, idle, orders } = await openScene(t, { env: { EDGE_CERT_FILE, EDGE_KEY_FILE } });
  const { body } = await platform.service.ask<{ url: string }>("GET", `/projects/${project}`);
  const { port } = platform.service.publishing.addresses()!.https!;
  assert.equal(body.url, `https://rex.sites.test:${port}`);
  assert.equal((await platform.http("rex.sites.test", "/a?b")).headers.location, `https://rex.sites.test:${port}/a?b`);
  const handshake = (name: string): Promise<TLSSocket> => openTls(platform, name, { ca: cert });
  const socket = await handshake("rex.sites.test");
  socket.write("GET / HTTP/1.1\r\nHost: rex.sites.test\r\nConnection: close\r\n\r\n");
  assert.match(Buffer.concat(await Array.fromAsync(socket as AsyncIterable<Buffer>)).toString(), /<h1>Rex<\/h1>$/);
  for (const name of ["nobody.sites.test", "sites.test", "x.rex.sites.test"]) await assert.rejects(handshake(name), name);
  const domain = await platform.service.ask<{ message: string }>("POST", `/projects/${project}/domains`, {
    body: { hostname: "rex.sites.test" },
  });
  assert.equal(domain.status, 400);
  await idle();
  platform.time.now += 86_400_000;
  await idle();
  assert.equal(orders(), 0);
});

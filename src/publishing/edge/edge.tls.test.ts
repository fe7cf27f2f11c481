import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect as connectHttp2, type ClientHttp2Session, type OutgoingHttpHeaders } from "node:http2";
import { connect as connectPlain } from "node:net";
import { after, before, test } from "node:test";
import { connect, getCiphers, type ConnectionOptions, type TLSSocket } from "node:tls";
import { closed, fetchFrom, openTestEdge, throwAwayCertificate, type TestEdge } from "../../../test/support/test-edge.ts";

const host = "www.example.com";
const versions = ["TLSv1.2", "TLSv1.3"] as const;
const large = Buffer.alloc(32_000_000, "x");
let edge: TestEdge;

before(async () => {
  edge = await openTestEdge();
});
after(() => edge.close(0));

async function serve(name: string, into = edge): Promise<void> {
  await into.publish(name, { "index.html": `<p>${name}`, "large.bin": large });
  into.certificates.set(name, throwAwayCertificate(name));
}

function remove(name: string): void {
  edge.sites.delete(name);
  edge.certificates.delete(name);
  edge.dropHost(name);
}

/** Makes a handshake that checks the certificate. Rejects if it fails. */
async function handshake(servername: string, options: ConnectionOptions = {}, at = edge): Promise<TLSSocket> {
  const ca = at.certificates.get(servername.toLowerCase().replace(/\.$/, ""))?.cert;
  const socket = connect({
    host: "127.0.0.1",
    port: at.addresses.https!.port,
    servername,
    ...(ca === undefined ? {} : { ca }),
    ...options,
  });
  await once(socket, "secureConnect");
  return socket;
}

async function openHttp2(name: string): Promise<ClientHttp2Session> {
  const socket = await handshake(name, { ALPNProtocols: ["h2"] });
  const session = connectHttp2(`https://${name}`, { createConnection: () => socket });
  session.on("error", () => undefined);
  return session;
}

async function request(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: Buffer) {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.write(body);
  const [answered] = (await once(stream, "response")) as [Record<string, string | number>];
  const bytes = Buffer.concat((await Array.fromAsync(stream)) as Buffer[]);
  return { headers: answered, status: answered[":status"], body: bytes };
}

test("a site is served over HTTP/1.1 and HTTP/2 with its own certificate, whatever the case of SNI", async () => {
  await serve(host);
  const tls = { ca: edge.certificates.get(host)!.cert };
  assert.equal((await fetchFrom(edge, host, "/", { tls })).body.toString(), `<p>${host}`);
  const session = await openHttp2(host);
  const { status, body, headers } = await request(session, { ":path": "/" });
  assert.deepEqual([status, body.toString(), headers["x-content-type-options"]], [200, `<p>${host}`, "nosniff"]);
  assert.ok((await request(session, { ":path": "/large.bin" })).body.equals(large));
  assert.equal((await request(session, { ":path": "/large.bin", range: "bytes=5-9" })).body.toString(), "xxxxx");
  assert.equal((await request(session, { ":path": "/", ":method": "HEAD" })).body.length, 0);
  assert.equal((await request(session, { ":path": "/%2e%2e/x" })).status, 400);
  session.close();
  for (const spelling of ["WWW.Example.COM", "www.example.com."])
    (await handshake(spelling, { checkServerIdentity: () => undefined })).destroy();
});

test("the handshake fails for a name without a certificate, and without a name", async () => {
  await edge.publish("no-certificate.example", { "index.html": "x" });
  const rejectUnauthorized = false;
  for (const servername of ["unknown.example", "no-certificate.example", "localhost", "a..b", "x".repeat(255)]) {
    await assert.rejects(handshake(servername, { rejectUnauthorized }), { code: /HANDSHAKE_FAILURE|ECONNRESET/ }, servername);
  }
  await assert.rejects(handshake("", { rejectUnauthorized }), { code: /HANDSHAKE_FAILURE/ });
  await assert.rejects(handshake(host, { rejectUnauthorized, ALPNProtocols: ["imap"] }), { code: /NO_APPLICATION_PROTOCOL/ });
});

test("an invalid certificate fails the handshakes of its own name only, and is logged", async () => {
  edge.certificates.set("broken.example", { cert: "nonsense", key: "nonsense" });
  await assert.rejects(handshake("broken.example", { rejectUnauthorized: false }), { code: /HANDSHAKE_FAILURE/ });
  assert.equal((edge.lines.at(-1) as { host: string }).host, "broken.example");
  (await handshake(host)).destroy();
});

test("a request for a name other than the connection's gets 421", async () => {
  await serve("other.example");
  const tls = { ca: edge.certificates.get(host)!.cert, servername: host };
  const { status, headers } = await fetchFrom(edge, "other.example", "/", { tls });
  assert.deepEqual([status, headers.connection], [421, "close"]);
  const session = await openHttp2(host);
  assert.equal((await request(session, { ":path": "/", ":authority": "other.example" })).status, 421);
  session.close();
});

test("concurrent handshakes load a certificate once, and the next one after a renewal uses the new one", async () => {
  await serve("renewed.example");
  const first = edge.certificates.get("renewed.example")!.cert;
  const sockets = await Promise.all(Array.from({ length: 20 }, () => handshake("renewed.example")));
  assert.equal(edge.loads.filter((id) => id === first).length, 1);
  for (const socket of sockets) socket.destroy();
  edge.certificates.set("renewed.example", throwAwayCertificate("renewed.example"));
  const socket = await handshake("renewed.example");
  assert.equal(socket.getPeerX509Certificate()?.toString(), new X509Certificate(edge.certificates.get("renewed.example")!.cert).toString());
  socket.destroy();
});

for (const version of versions) {
  const only = { minVersion: version, maxVersion: version };

  test(`a tls-alpn-01 challenge is answered on ${version}, whether or not the name has a certificate`, async () => {
    await serve("alpn.example");
    const rejectUnauthorized = false;
    for (const name of ["alpn.example", "alpn-new.example"]) {
      edge.alpnCertificates.set(name, throwAwayCertificate(name));
      const socket = await handshake(name, { ...only, ALPNProtocols: ["acme-tls/1"], rejectUnauthorized });
      assert.equal(socket.alpnProtocol, "acme-tls/1");
      assert.equal(socket.getPeerX509Certificate()?.toString(), new X509Certificate(edge.alpnCertificates.get(name)!.cert).toString());
      await closed(socket);
    }
    (await handshake("alpn.example", { ...only, ALPNProtocols: ["http/1.1"] })).destroy();
    await refusesData("alpn-new.example", { ...only, rejectUnauthorized });
    edge.alpnCertificates.clear();
    await assert.rejects(handshake("alpn.example", { ...only, ALPNProtocols: ["acme-tls/1"], rejectUnauthorized }), {
      code: /NO_APPLICATION_PROTOCOL/,
    });
  });

  test(`a session of ${version} is not resumed: not for its own name, another name or a removed one`, async () => {
    await serve("again.example");
    await serve("beside.example");
    const rejectUnauthorized = false;
    for (const session of await takeSessions("again.example", only)) {
      for (const name of ["again.example", "beside.example"]) {
        const socket = await handshake(name, { ...only, session, rejectUnauthorized });
        const served = new X509Certificate(edge.certificates.get(name)!.cert).toString();
        assert.deepEqual([socket.isSessionReused(), socket.getPeerX509Certificate()?.toString()], [false, served]);
        for (const other of ["again.example", "beside.example"].filter((one) => one !== name)) {
          assert.equal(await visitByHttp1(socket)(other), 421);
        }
        socket.destroy();
      }
      for (const servername of ["unknown.example", ""]) {
        await assert.rejects(handshake(servername, { ...only, session, rejectUnauthorized }), { code: /HANDSHAKE_FAILURE/ }, servername);
      }
      remove("again.example");
      await assert.rejects(handshake("again.example", { ...only, session, rejectUnauthorized }), { code: /HANDSHAKE_FAILURE/ });
      await serve("again.example");
    }
  });
}

test("TLS 1.2 and 1.3 are offered, only with AEAD suites that have forward secrecy", async () => {
  await serve("suites.example");
  const suites13 = ["AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256", "AES_128_CCM_SHA256", "AES_128_CCM_8_SHA256"];
  const suites12 = getCiphers().filter((suite) => !suite.startsWith("tls_"));
  const offers = [
    ...suites12.map((suite) => ({ suite, ciphers: `${suite.toUpperCase()}:@SECLEVEL=0`, maxVersion: "TLSv1.2" as const })),
    ...suites13.map((name) => ({ suite: `TLS_${name}`, ciphers: `TLS_${name}`, minVersion: "TLSv1.3" as const })),
  ];
  const taken: string[] = [];
  for (const { suite, ...offer } of offers) {
    const socket = await handshake("suites.example", offer).catch(() => undefined);
    socket?.destroy();
    if (socket !== undefined) taken.push(suite);
  }
  assert.deepEqual(taken.toSorted(), [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "ecdhe-ecdsa-aes128-gcm-sha256",
    "ecdhe-ecdsa-aes256-gcm-sha384",
    "ecdhe-ecdsa-chacha20-poly1305",
  ]);
  const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" } as const;
  await assert.rejects(handshake("suites.example", old), /TLS|SSL|ECONNRESET|socket/);
});

/** Requests the page of a host on an open connection, and returns the status. */
function visitByHttp1(socket: TLSSocket): (name: string) => Promise<number> {
  return async (name) => {
    socket.write(`GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`);
    const [answer] = (await once(socket, "data")) as [Buffer];
    return Number(answer.toString("latin1").split(" ")[1]);
  };
}

/** Asserts that no byte of an answer arrives, whether or not the handshake succeeds. */
async function refusesData(name: string, options: ConnectionOptions): Promise<void> {
  const socket = connect({ host: "127.0.0.1", port: edge.addresses.https!.port, servername: name, ...options });
  let received = 0;
  socket.on("data", (chunk: Buffer) => (received += chunk.length));
  socket.write(`GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`);
  await closed(socket);
  assert.equal(received, 0);
}

/** Returns the sessions that a client could try to resume: its own, and those of the tickets that the server sends. */
async function takeSessions(name: string, options: ConnectionOptions): Promise<Buffer[]> {
  const socket = await handshake(name, options);
  const sessions = [socket.getSession()!];
  socket.on("session", (session) => sessions.push(session));
  socket.write(`GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`);
  await closed(socket);
  return sessions;
}

test("removing a name cuts its idle connections, HTTP/2, downloads and plain HTTP at once; those of other names stay", async () => {
  await serve("stays.example");
  await serve("goes.example");
  await edge.publish("plain.example", { "index.html": "x", "large.bin": large });
  const idle = await handshake("goes.example");
  const http2 = await openHttp2("goes.example");
  assert.equal((await request(http2, { ":path": "/" })).status, 200);
  const download = http2.request({ ":path": "/large.bin" });
  download.on("error", () => undefined);
  await once(download, "response");
  const plain = connectPlain(edge.addresses.http.port, "127.0.0.1");
  plain.write("GET /large.bin HTTP/1.1\r\nHost: plain.example\r\n\r\n");
  await once(plain, "readable");
  const other = await openHttp2("stays.example");

  const cut = [closed(idle), once(http2, "close"), once(download, "close")];
  remove("goes.example");
  await Promise.all(cut);
  remove("plain.example");
  let received = 0;
  plain.on("data", (chunk: Buffer) => (received += chunk.length));
  await closed(plain);
  assert.ok(received < large.length, `${received} bytes came`);
  assert.equal((await request(other, { ":path": "/" })).status, 200);
  other.close();
  await assert.rejects(handshake("goes.example", { rejectUnauthorized: false }), { code: /HANDSHAKE_FAILURE/ });
  assert.equal((await fetchFrom(edge, "plain.example", "/")).status, 404);
});

test("removing a name cuts its download, even if the connection has already requested another name", async () => {
  await edge.publish("first.example", { "large.bin": large });
  await edge.publish("second.example", { "index.html": "x" });
  const plain = connectPlain(edge.addresses.http.port, "127.0.0.1");
  plain.write("GET /large.bin HTTP/1.1\r\nHost: first.example\r\n\r\nGET / HTTP/1.1\r\nHost: second.example\r\n\r\n");
  await once(plain, "readable");
  remove("first.example");
  let received = 0;
  plain.on("data", (chunk: Buffer) => (received += chunk.length));
  await closed(plain);
  assert.ok(received < large.length, `${received} bytes came`);
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { Deployment } from "../src/publishing/projects/deployments.ts";
import { visitorOf } from "./support/edge.ts";
import { freePorts } from "./support/ports.ts";
import { startService, type TestService } from "./support/service.ts";
import { made } from "./support/shop.ts";
import { packSite } from "./support/sites.ts";
import { closed, throwAwayCertificate } from "./support/test-edge.ts";

const certificate = throwAwayCertificate("*.sites.test");
const gzip = { "content-type": "application/gzip" };

suite("an address for each deployment", () => {
  let service: TestService;
  let httpPort: number;
  let visit: ReturnType<typeof visitorOf>;
  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), "petstore-test-"));
    after(() => rmSync(folder, { recursive: true }));
    const [EDGE_CERT_FILE, EDGE_KEY_FILE] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    writeFileSync(EDGE_CERT_FILE, certificate.cert);
    writeFileSync(EDGE_KEY_FILE, certificate.key);
    const [http, https] = await freePorts(2);
    httpPort = http!;
    const ports = { EDGE_HTTP_PORT: String(http), EDGE_HTTPS_PORT: String(https) };
    service = await startService({
      env: { PLATFORM_DOMAIN: "sites.test", KEEP_DEPLOYMENTS: "2", EDGE_CERT_FILE, EDGE_KEY_FILE, ...ports },
    });
    visit = visitorOf({ httpPort: http!, httpsPort: https!, root: certificate.cert });
  });
  after(() => service.close());

  const project = async (slug: string, key?: string) =>
    (await made<{ id: number }>(service, "POST", "/projects", { name: slug, slug }, key)).id;
  const deploy = async (id: number, files: Record<string, string>, petstore: object = {}, key = service.key): Promise<Deployment> => {
    const body = await packSite({ ...files, "petstore.json": JSON.stringify(petstore) });
    const path = `/projects/${id}/deployments`;
    const sent = await service.ask<Deployment>("POST", path, { body, headers: gzip, key });
    await service.publishing.idle();
    return (await service.ask<Deployment>("GET", `${path}/${sent.body.id}`, { key })).body;
  };
  const get = (label: string, path = "/") => visit.https(`${label}.sites.test`, path);

  test("each deployment is served at its own address over HTTPS, whichever is live, and asks search engines not to index it", async () => {
    const id = await project("shop");
    const first = await deploy(id, { "index.html": "first", "404.html": "own 404", "about/index.html": "about" });
    const second = await deploy(id, { "index.html": "second" });
    for (const [deployment, page] of [
      [first, "first"],
      [second, "second"],
    ] as const) {
      assert.match(deployment.url ?? "", new RegExp(`^https://${deployment.id}--shop\\.sites\\.test:\\d+$`));
      const { status, headers, body } = await get(`${deployment.id}--shop`);
      assert.deepEqual([status, body, headers["x-robots-tag"]], [200, page, "noindex"]);
      const again = await visit.http(`${deployment.id}--shop.sites.test`, "/a?b=c");
      assert.deepEqual([again.status, again.headers.location], [308, `${deployment.url}/a?b=c`]);
    }
    assert.deepEqual([(await get(`${first.id}--shop`, "/nope")).body, (await get(`${first.id}--shop`, "/about")).status], ["own 404", 301]);
    const { headers, body } = await get("shop");
    assert.deepEqual([body, headers["x-robots-tag"]], ["second", undefined]);
    await made(service, "POST", `/projects/${id}/deployments/${first.id}/promote`);
    assert.deepEqual([(await get("shop")).body, (await get(`${second.id}--shop`)).body], ["first", "second"]);
  });

  test("a storefront is rendered at the address of its deployment, with the settings of that deployment", async () => {
    const id = await project("front");
    const first = await deploy(id, {}, { name: "Old name", storefront: { tagline: "Old words" } });
    const second = await deploy(id, {}, { name: "New name", storefront: {} });
    const old = await get(`${first.id}--front`);
    assert.deepEqual([old.status, old.headers["x-robots-tag"]], [200, "noindex"]);
    assert.ok(old.body.includes("Old name") && old.body.includes("Old words"));
    assert.ok((await get(`${second.id}--front`)).body.includes("New name"));
    const unknown = await get(`${second.id}--front`, "/animals/999999");
    assert.deepEqual([unknown.status, unknown.headers["x-robots-tag"]], [404, "noindex"]);
  });

  test("every label that names no deployment of the project is a 404, and none is answered by another site", async () => {
    const id = await project("strict");
    const { id: mine } = await deploy(id, { "index.html": "mine" });
    const failed = await deploy(id, { "index.html": "failed" }, { nonsense: 1 });
    assert.equal(failed.url, null);
    const other = await service.newAccount();
    const theirs = await deploy(await project("theirs", other.key), { "index.html": "theirs" }, {}, other.key);
    const labels = [
      `0${mine}--strict`,
      `${"9".repeat(20)}--strict`,
      `${"9".repeat(15)}--strict`,
      `${mine}--theirs`,
      `${theirs.id}--strict`,
      `${failed.id}--strict`,
      `${mine}--strict--strict`,
      `${mine}--${mine}--strict`,
      `${mine}---strict`,
      `${mine}-strict`,
      `-${mine}--strict`,
      `--strict`,
      `x--strict`,
      `1e1--strict`,
      `${mine}--nobody`,
      `www.${mine}--strict`,
    ];
    for (const label of labels) {
      const { status, body } = await visit.http(`${label}.sites.test`, "/");
      const isRedirect = status === 308; // to HTTPS, which has a certificate for names of known projects
      const answer = isRedirect ? await get(label) : { status, body };
      assert.deepEqual([answer.status, /^There is no such deployment|^There is no site/.test(answer.body)], [404, true], label);
    }
    const upper = await visit.https(`${mine}--STRICT.Sites.Test`, "/");
    assert.deepEqual([upper.status, upper.body], [200, "mine"], "host names have no case");
  });

  test("a deployment that is not kept any more is a 404, and so are those of a renamed or deleted project", async () => {
    const id = await project("brief");
    const first = await deploy(id, { "index.html": "1" });
    await deploy(id, { "index.html": "2" });
    const third = await deploy(id, { "index.html": "3" });
    assert.equal((await get(`${first.id}--brief`)).status, 404);
    assert.equal((await get(`${third.id}--brief`)).body, "3");
    const path = `/projects/${id}/deployments/${third.id}`;
    const earlier = await service.ask("GET", path);
    await made(service, "PATCH", `/projects/${id}`, { slug: "renamed" });
    await assert.rejects(get(`${third.id}--brief`), "no certificate for a slug that nobody has");
    assert.equal((await get(`${third.id}--renamed`)).body, "3");
    const renamed = await service.ask<Deployment>("GET", path);
    assert.match(renamed.body.url ?? "", /--renamed\./);
    assert.notEqual(renamed.headers.get("etag"), earlier.headers.get("etag"));
    await service.ask("DELETE", `/projects/${id}`);
    await assert.rejects(get(`${third.id}--renamed`));
    assert.equal((await visit.http(`${third.id}--renamed.sites.test`, "/")).status, 404);
  });

  test("deleting a project cuts the connections to the addresses of its deployments", async () => {
    const id = await project("cut");
    const { id: deploymentId } = await deploy(id, { "index.html": "x" });
    const socket = connect(httpPort, "127.0.0.1");
    socket.write(`GET / HTTP/1.1\r\nHost: ${deploymentId}--cut.sites.test\r\n\r\n`);
    await once(socket, "data");
    const end = closed(socket);
    await service.ask("DELETE", `/projects/${id}`);
    await end;
  });

  test("a slug that leaves no room for the number has no such address", async () => {
    const short = await deploy(await project("a".repeat(55)), { "index.html": "short" });
    assert.equal((await get(new URL(short.url!).hostname.split(".")[0]!)).body, "short");
    const longest = await deploy(await project("b".repeat(63)), { "index.html": "long" });
    assert.deepEqual([longest.status, longest.url], ["ready", null]);
  });
});

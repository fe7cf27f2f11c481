import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { statusOf, type ProblemCode } from "../src/platform/error-table.ts";
import type { Domain } from "../src/publishing/domains/domains.ts";
import { openCustomer, type Customer } from "./support/customer.ts";
import { hostileNames, lookalikes } from "./support/hostile-names.ts";
import { openPlatform, type Platform } from "./support/platform.ts";
import type { Reply } from "./support/service.ts";

suite("any text sent as a domain", () => {
  let platform: Platform;
  let alpha: Customer;
  let beta: Customer;
  before(async () => {
    platform = await openPlatform();
    alpha = await openCustomer(platform, "alpha");
    beta = await openCustomer(platform, "beta");
    await alpha.attach("www.alpha.test");
  });
  after(() => platform.close());

  const namesOf = async ({ project, key }: Customer): Promise<string[]> =>
    (await platform.service.ask<Domain[]>("GET", `/projects/${project}/domains?limit=100`, { key })).body.map(({ hostname }) => hostname);

  /** Checks that a refusal is clear to programs and people (specification 1.10). */
  function requireProblem({ status, body }: Reply, allowed: number[], what: string): void {
    assert.ok(allowed.includes(status), `${status} for ${what.slice(0, 80)}: ${JSON.stringify(body)}`);
    const { code, message, status: statusInBody } = body as { code: ProblemCode; message: string; status: number };
    assert.deepEqual([statusOf(code), statusInBody], [status, status], what);
    assert.match(message, /^["\w][^\p{Cc}]*[\w".]$/u, what);
  }

  test("in the body is a 400 with the reason unless it is a public host name, and attaches nothing", async () => {
    for (const name of hostileNames) requireProblem(await beta.add(name), [400], JSON.stringify(name));
    for (const value of [null, 7, true, [], {}, ["www.alpha.test"], { hostname: "www.alpha.test" }]) {
      requireProblem(await beta.add(value as unknown as string), [400], JSON.stringify(value));
    }
    assert.deepEqual(await namesOf(beta), []);
  });

  test("in petstore.json fails the deployment with the field and the reason, and the earlier page stays", async () => {
    for (const name of hostileNames.filter((one) => one.length < 1_000)) {
      const petstore = { domains: { primary: "www.fine.test", redirects: [{ from: name, to: "www.fine.test" }] } };
      const deployment = await platform.deploy(beta.project, { "index.html": "hostile" }, { key: beta.key, petstore });
      assert.equal(deployment.status, "failed", JSON.stringify(name));
      assert.match(deployment.error ?? "", /^petstore\.json: `?domains\.redirects\[0\]\.from`?.*\w/s, JSON.stringify(name));
    }
    assert.deepEqual(await namesOf(beta), []);
    assert.equal((await platform.http("beta.sites.test", "/")).body, beta.page);
  });

  test("a name that looks like another is a separate name: attached, shown in its DNS form, and not served", async () => {
    for (const name of lookalikes) {
      const { status, body } = await beta.add(name);
      assert.equal(status, 201, name);
      assert.match(body.hostname, /^[a-z0-9.-]+$/);
      assert.notEqual(body.hostname, "www.alpha.test");
      assert.equal((await platform.http(body.hostname, "/")).status, 404);
    }
    for (const taken of ["ｗｗｗ.alpha.test", "www。alpha。test", "WWW.ALPHA.TEST.", "www.al\u00adpha.test"]) {
      requireProblem(await beta.add(taken), [409], taken);
    }
    assert.equal((await platform.https("www.alpha.test", "/")).body, alpha.page);
  });

  test("in the path is a name that is not attached, or no valid path, for every operation", async () => {
    const attached = new Set(await namesOf(beta));
    const names = [...hostileNames, "www.alpha.test", "WWW.ALPHA.TEST."].filter((name) => name.isWellFormed() && name !== "");
    for (const name of names) {
      const hostname = encodeURIComponent(name);
      const replies = [
        await beta.get(hostname),
        await beta.change(hostname, { primary: true }),
        await beta.verify(hostname),
        await beta.remove(hostname),
      ];
      for (const reply of replies) {
        // a path that the client itself has resolved is another operation's
        if (!/^\.\.?$/.test(name)) requireProblem(reply, [400, 404, 414, 431], name);
      }
    }
    for (const tail of ["/path", "?q", "#f", "\\x"])
      requireProblem(await alpha.get(encodeURIComponent(`www.alpha.test${tail}`)), [404], tail);
    assert.deepEqual(new Set(await namesOf(beta)), attached);
    assert.equal((await platform.https("www.alpha.test", "/")).body, alpha.page);
  });

  test("as a redirect is a 400 with the reason, and the name is served as before", async () => {
    await alpha.attach("shop.alpha.test");
    const changes = [
      ...["shop.alpha.test/path", "shop.alpha.test?q", "shop.alpha.test#f", "shop.alpha.test:80", "https://shop.alpha.test"].map((to) => ({
        redirect: { to },
      })),
      ...hostileNames.map((to) => ({ redirect: { to } })),
      ...[0, -1, 200, 300, 303, 304, 305, 306, 309, 400, 301.5, 1e20, "301", null].map((status) => ({
        redirect: { to: "alpha.test", status },
      })),
      { redirect: {} },
      { redirect: [] },
      { redirect: "alpha.test" },
      { primary: "yes" },
      { primary: null },
      { hostname: "x.test" },
      { redirect: { to: "www.alpha.test" } },
    ];
    for (const body of changes) requireProblem(await alpha.change("www.alpha.test", body), [400], JSON.stringify(body));
    assert.equal((await platform.https("www.alpha.test", "/")).body, alpha.page);
  });
});

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { flowsOf, gapsOf } from "./flows.ts";

const root = new URL("../", import.meta.url);
const read = (path: string) => ({ path: path.replaceAll("\\", "/"), text: readFileSync(new URL(path, root), "utf8") });

/** Files between two of a flow that it does not pass. */
const beside: Record<string, string> = {
  "src/callers/limits/publishable.ts": "requests with a publishable key",
  "src/callers/limits/snapshot.ts": "the counts that a restart finds",
  "src/platform/http/idempotency.ts": "requests with an Idempotency-Key",
  "src/platform/http/steps.ts": "operations of several transactions",
  "src/store/reservations/reservations.store.ts": "changes of orders, which reservations follow",
  "src/publishing/projects/deployments.store.ts": "deployments, which a project of a domain has already",
  "src/publishing/domains/lost-domains.store.ts": "names that another account took over",
  "src/publishing/acme/ari.ts": "renewals",
  "src/publishing/certificates/former-authority.ts": "certificates of another authority",
  "src/events/log/numbering.ts": "events on PostgreSQL, which a node numbers after their commit",
  "src/app/imports.ts": "downloads of photos, which follow the same rules of addresses",
};

test("CONTRIBUTING.md lists the files of three flows, and each leads to the next by imports", () => {
  const flows = flowsOf(read("CONTRIBUTING.md").text);
  const files = globSync("src/**/*.ts", { cwd: root, exclude: ["**/*.test.ts"] }).map(read);
  assert.deepEqual(
    flows.flatMap((flow) => gapsOf(flow, files, beside)),
    [],
  );
  const needed = new Set(flows.flatMap((flow) => gapsOf(flow, files, {})).map((gap) => gap.slice(0, gap.indexOf(":"))));
  assert.deepEqual([...needed].toSorted(), Object.keys(beside).toSorted(), "no file is left out without need");
});

test("an order passes at most 28 files, a domain 34, a webhook 15", () => {
  const flows = flowsOf(read("CONTRIBUTING.md").text);
  const most = [28, 34, 15];
  assert.equal(flows.length, most.length);
  for (const [i, { title, steps }] of flows.entries())
    assert.ok(steps.length > 1 && steps.length <= most[i]!, `${title}: ${steps.length} files`);
});

test("a gap in a flow is found", () => {
  const files = [
    { path: "src/a.ts", text: `import { b } from "./b.ts";\nimport { x } from "./x.ts";\nimport { type C } from "./c.ts";` },
    { path: "src/b.ts", text: `import type { C } from "./c.ts";` },
    { path: "src/c.ts", text: "" },
    { path: "src/d.ts", text: `import type { C } from "./c.ts";` },
    { path: "src/x.ts", text: `import { c } from "./c.ts";` },
  ];
  const gaps = (lines: string) => gapsOf(flowsOf(`# A\n\n## Three flows\n\n### One\n\n${lines}\n\n## Next\n`)[0]!, files, {});
  assert.deepEqual(gaps("1. [a](src/a.ts) begins.\n2. [b](src/b.ts) goes on."), []);
  assert.deepEqual(gaps("1. [c](src/c.ts) begins.\n2. [d](src/d.ts), by `c.ts`, ends."), []);
  assert.deepEqual(gaps("1. [a](src/a.ts) begins.\n2. [c](src/c.ts) ends."), ["src/x.ts: lies between src/a.ts and src/c.ts"]);
  assert.deepEqual(gaps("1. [c](src/c.ts) begins.\n2. [d](src/d.ts) ends.\n3. [e](src/e.ts)"), [
    "src/d.ts: no earlier file imports it, and its line names none that it imports",
    "src/e.ts: does not exist",
  ]);
});

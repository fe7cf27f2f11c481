import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, suite, test } from "node:test";
import { descriptionOf } from "../../src/app/description.ts";
import { loadSettings } from "../../src/app/settings.ts";
import { bodyChecker, operationsIn, successOf, type Document } from "../support/description.ts";
import { startExampleShops, type ExampleShops } from "../support/example-shops.ts";
import type { TestService } from "../support/service.ts";

/* Part of `npm run test:clients`: the samples of the reference in languages that `npm test` has no compiler for. */

const document = JSON.parse(JSON.stringify(descriptionOf(loadSettings({})))) as Document;
const wrongWith = bodyChecker(document);
const folder = mkdtempSync(join(tmpdir(), "petstore-samples-"));
let examples: ExampleShops;
let reading: TestService;
before(async () => {
  examples = await startExampleShops(folder);
  reading = await examples.open();
});
after(async () => {
  await reading.close();
  await examples.close();
  rmSync(folder, { recursive: true });
});

/** Runs a sample as a reader would, and returns what it printed. */
async function printedBy(program: string[], source: string, service: TestService): Promise<string> {
  const [command = "", ...args] = program;
  writeFileSync(join(folder, args.at(-1)!), source);
  const env = { ...process.env, BASE_URL: `${service.address}/v1`, API_KEY: service.key };
  const child = spawn(command, args, { env, cwd: folder, stdio: ["ignore", "pipe", "pipe"], timeout: 120_000 });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  assert.equal(err, "", source);
  return out.trim();
}

const programs = { Go: ["go", "run", "sample.go"], PHP: ["php", "sample.php"] };

for (const [language, program] of Object.entries(programs)) {
  suite(`the samples in ${language}`, () => {
    for (const operation of operationsIn(document)) {
      test(`${operation.operationId}: the answer is as described`, async (t) => {
        const service = operation.method === "GET" ? reading : await examples.open();
        if (service !== reading) t.after(() => service.close());
        const source = operation["x-codeSamples"].find(({ lang }) => lang === language)?.source ?? "";
        const printed = await printedBy(program, source, service);
        // Only the sample in Go prints the status.
        const answer = language === "Go" ? printed.replace(`${successOf(operation)}`, "").trim() : printed;
        if (operation.operationId === "streamEvents") assert.match(answer, /^: open\n\nid: 1\ndata: \{/);
        else assert.deepEqual(wrongWith(operation, successOf(operation), answer === "" ? "" : JSON.parse(answer)), [], printed);
      });
    }
  });
}

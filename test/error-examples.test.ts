import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { descriptionOf } from "../src/app/description.ts";
import { loadSettings } from "../src/app/settings.ts";
import { compactJson } from "../src/commands/description.ts";
import { operationsIn, type Document } from "./support/description.ts";
import { startDnsServer, type DnsServer } from "./support/dns-server.ts";
import type { Failure } from "./support/models.ts";
import { provoke, setScene, type Scene } from "./support/provocations.ts";
import { startService } from "./support/service.ts";
import { exampleSite, fillWithExamples } from "./support/shop.ts";
import { packSite } from "./support/sites.ts";

const document = JSON.parse(JSON.stringify(descriptionOf(loadSettings({})))) as Document;
const operations = operationsIn(document);
/** Answers that are the same for every operation: the tests of these statuses say when each is given. */
const shared = new Set(["401", "406", "413", "415", "429", "431", "500", "503"]);
/** With this setting the test writes what was answered into the file that the description is made from. */
const isRecording = process.env["PETSTORE_RECORD_ERRORS"] === "on";
const recorded: Record<string, Record<string, Pick<Failure, "message" | "details" | "challenge">>> = {};

const moment = Date.UTC(2026, 11, 24, 10);
let dns: DnsServer;
let scene: Scene;
before(async () => {
  dns = await startDnsServer();
  for (const name of ["www.example.com", "shop.example.com", "taken.example.com"]) dns.set(name, "CNAME", ["petstore.localhost"]);
  dns.set("petstore.localhost", "A", ["127.0.0.1"]);
  const shop = await startService({ clock: () => moment, env: { DNS_SERVERS: dns.address } });
  await fillWithExamples(shop);
  const prove = ({ name, value }: NonNullable<Failure["challenge"]>): void => dns.set(name, "TXT", [value]);
  scene = await setScene(shop, await exampleSite(), await packSite({ "index.html": "no petstore.json" }), prove);
});
after(async () => {
  await scene.shop.close();
  await dns.close();
  if (isRecording)
    writeFileSync(new URL("../src/app/error-examples.json", import.meta.url), `${compactJson(recorded, { lineLengthMax: 140 })}\n`);
});

for (const operation of operations) {
  const refusals = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400 && !shared.has(status));
  for (const [status, { content }] of refusals) {
    for (const [code, { value }] of Object.entries(content?.["application/json"]?.examples ?? {})) {
      test(`${operation.operationId} answers ${code} as its example says`, async () => {
        const reply = code === "operation_sunset" ? await afterSunset() : await provoke(scene, operation, code);
        const body = withFixedTokens(reply.body);
        const { message, details, challenge } = body;
        (recorded[operation.operationId] ??= {})[code] = { message, ...(details && { details }), ...(challenge && { challenge }) };
        assert.deepEqual([reply.status, reply.body.code], [Number(status), code], JSON.stringify(reply.body));
        if (!isRecording) assert.deepEqual(body, value);
      });
    }
  }
}

/** A refusal in which the random value of a TXT record is the one of the example. */
function withFixedTokens(body: Failure): Failure {
  return JSON.parse(JSON.stringify(body).replaceAll(/\b[0-9a-f]{40}\b/g, "22a7f8fb7c5d92436789ed49698ef38f31fabc27")) as Failure;
}

/** The one deprecated operation, after the date that the description names. */
async function afterSunset() {
  const service = await startService({ clock: () => Date.UTC(2028, 0, 1) });
  try {
    return await service.ask<Failure>("GET", "/pets/1");
  } finally {
    await service.close();
  }
}

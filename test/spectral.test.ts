import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Spectral, type RulesetDefinition } from "@stoplight/spectral-core";
import { oas } from "@stoplight/spectral-rulesets";

/** What the rules `spectral:oas` say of a description, hints included, each as `rule at path: message`. */
async function findings(description: object): Promise<string[]> {
  const spectral = new Spectral();
  spectral.setRuleset({
    extends: [[oas as unknown as RulesetDefinition, "all"]],
    rules: {
      // The operator of a service gives an address in the settings, and the file of the repository has no operator.
      "contact-properties": "off",
      // The tags are in the order that the reference shows them in.
      "openapi-tags-alphabetical": "off",
    },
  });
  const found = await spectral.run({ ...description });
  return found.map(({ code, path, message }) => `${code} at ${path.join(".")}: ${message}`);
}

test("Spectral reports nothing for the description, not even a hint", async () => {
  assert.deepEqual(await findings(JSON.parse(readFileSync(new URL("../openapi.json", import.meta.url), "utf8")) as object), []);
});

test("Spectral finds what is wrong in a description, and what is only advice", async () => {
  const schema = { type: "integer" };
  const operation = {
    tags: ["A"],
    description: "A.",
    responses: { 200: { description: "A.", content: { "application/json": { schema, example: "a" } } } },
  };
  const found = await findings({
    openapi: "3.0.3",
    info: { title: "A", version: "1", description: "A.", contact: { name: "A" }, license: { name: "A", url: "https://a.example" } },
    servers: [{ url: "/v1" }],
    tags: [{ name: "A", description: "A." }],
    paths: { "/a": { get: operation } },
  });
  assert.deepEqual(new Set(found.map((line) => line.split(" ")[0])), new Set(["oas3-valid-media-example", "operation-operationId"]));
});

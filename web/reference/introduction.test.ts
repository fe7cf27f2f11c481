import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readIntroduction } from "./introduction.ts";
import type { OpenApi } from "./openapi.ts";

test("paragraphs that begin with their subject in bold are topics, and keep it where it is part of their sentence", () => {
  assert.deepEqual(readIntroduction("A shop.\n\n**Keys.** Send your key.\n\nMore.\n\n**Lists** are arrays, **not** objects."), {
    lead: "A shop.\n\nMore.",
    topics: [
      { name: "Keys", text: "Send your key." },
      { name: "Lists", text: "Lists are arrays, **not** objects." },
    ],
  });
  assert.deepEqual(readIntroduction(""), { lead: "", topics: [] });
});

test("the service's introduction has the topics of the quick start", () => {
  const { info } = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8")) as OpenApi;
  const { lead, topics } = readIntroduction(info.description ?? "");
  assert.match(lead, /^A shop's back end: .*\.$/);
  assert.deepEqual(
    topics.map(({ name }) => name),
    ["Keys", "Lists", "Changes", "Limits", "Errors"],
  );
});

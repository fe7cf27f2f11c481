import assert from "node:assert/strict";
import { test } from "node:test";
import recorded from "../../src/app/error-examples.json" with { type: "json" };
import { problemCodes, statusOf, type ProblemCode } from "../../src/platform/error-table.ts";
import { Refusal, type Detail } from "../calls/refusal.ts";
import { texts } from "../texts/texts.ts";
import { errorLine } from "./error-line.ts";
import { explain, fieldSentence } from "./explained.ts";

/** Codes that only programs can cause, so in the dashboard they are faults. */
const programs = ["method_not_allowed", "not_acceptable", "idempotency_key_in_use", "idempotency_key_reused", "operation_sunset"];
const faults = [...programs, "events_expired", "headers_too_large", "key_banned", "internal", "unavailable"];
const protocol = /\b(?:ETag|If-Match|X-Request-Id|HTTP|API|JSON|strikes?|RFC|pets?|records?|body|null|int32)\b|\b[45]\d\d\b|_/i;

type Example = { message: string; details?: Detail[] };
const examples = Object.values<Record<string, Example>>(recorded).flatMap((codes) => Object.entries(codes));

const refusal = (code: string, { message, details = [] }: Example): Refusal =>
  new Refusal(code, message, { status: statusOf(code as ProblemCode), details, requestId: "r-1", retryAfterSeconds: undefined });

const said = (error: Error): string[] => {
  const { message, fields } = explain(error);
  return [...(message === undefined ? [] : [message]), ...fields.map(fieldSentence)];
};

test("every error code is either a refusal that people can correct, or a fault", () => {
  assert.deepEqual(problemCodes.toSorted(), [...faults, ...Object.keys(texts.refusals.expected)].toSorted());
});

for (const code of problemCodes) {
  const isFault = faults.includes(code);
  test(`${code} is explained once${isFault ? ", with the request id" : ", without a request id"}`, () => {
    const messages = examples.filter(([of]) => of === code).map(([, example]) => example);
    for (const example of messages.length > 0 ? messages : [{ message: "The service says why." }]) {
      const error = refusal(code, example);
      const wasTyped = example.details === undefined || example.details.some(({ path }) => /^body[.[]/.test(path));
      assert.equal(explain(error).requestId, isFault || (code === "invalid_request" && !wasTyped) ? "r-1" : undefined, example.message);
      assert.equal(explain(error).message === undefined, explain(error).fields.length > 0, "either the fields or a sentence");
      assert.equal(errorLine(error).includes("r-1"), explain(error).requestId !== undefined);
      if (!code.startsWith("domain_")) assert.doesNotMatch(said(error).join(" "), protocol);
    }
  });
}

test("a refusal with details explains each field, and nothing else", () => {
  const details = [
    { path: "body.shipDate", message: "must be a date and time of RFC 3339 with a zone" },
    { path: "body.name", message: "is required" },
  ];
  const error = refusal("invalid_request", { message: "body.shipDate must be a date and time of RFC 3339 with a zone.", details });
  assert.deepEqual(said(error), ["Ship date must be a date with a time.", "Name is required."]);
});

test("a failed connection has its own message, and an error without a response has no request id", () => {
  const unreachable = new Refusal("unreachable", texts.dashboard.unreachable, { status: 0 });
  assert.equal(errorLine(unreachable), texts.dashboard.unreachable);
  assert.equal(errorLine(new Error("Choose an animal.")), "Choose an animal.");
});

import assert from "node:assert/strict";
import type { Failure } from "./models.ts";
import type { RawAnswer } from "./raw.ts";

/** The head of a request with a body in JSON. */
export function headOf(key: string, line: string, ...headers: string[]): string {
  return [`${line} HTTP/1.1`, "host: localhost", `authorization: Bearer ${key}`, "content-type: application/json", ...headers, "", ""].join(
    "\r\n",
  );
}

/** Checks that an answer is the error of this code, with the limit headers. */
export function assertRefusal(answer: RawAnswer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.body);
  const error = JSON.parse(answer.body) as Failure;
  assert.deepEqual([error.code, error.status], [code, status]);
  assert.ok(answer.headers["x-ratelimit-remaining"] && answer.headers["x-request-id"]);
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../platform/problem.ts";
import { picture } from "../../../test/support/pictures.ts";
import { encodeInProcess } from "./photo-uploads.ts";

test("a picture that takes too much CPU time is refused", async () => {
  const { answer, bodies } = await encodeInProcess(await picture("teal"), "photo", { cpuMsMax: 1, msMax: 600_000 });
  assert.deepEqual([answer, bodies.length], [{ refusal: "it takes too long, or too much memory, to decode" }, 0]);
});

test("a picture for which a busy machine has no time can be sent again", async () => {
  const encoding = encodeInProcess(await picture("teal"), "photo", { cpuMsMax: 600_000, msMax: 1 });
  await assert.rejects(encoding, (error: unknown) => error instanceof Problem && error.code === "unavailable");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { openBounds } from "../../platform/bounds.ts";
import type { Database } from "../../platform/db/database.ts";
import type { Problem } from "../../platform/problem.ts";
import { openPhotoUploads } from "./photo-uploads.ts";

const mib = Buffer.alloc(1_048_576);
const unused = { publish: () => Promise.reject(new Error("nothing is published")), pin: () => undefined, release: () => undefined };

test("accounts that hold all the bytes of pictures that they can leave room for another account's photo", async () => {
  const photos = openPhotoUploads({ db: {} as Database, bounds: openBounds(), log: { warn: () => undefined } }, unused);
  const ended = Promise.withResolvers<void>();

  async function* body(mibs: number, end: Promise<void> | undefined): AsyncGenerator<Buffer> {
    for (let i = 0; i < mibs; i++) yield mib;
    await end;
  }

  const send = (accountId: number, mibs: number, end?: Promise<void>) =>
    photos.receive({ accountId, hasGone: () => false }, body(mibs, end)).then(
      () => "received",
      (error: unknown) => (error as Problem).code,
    );
  const greedy = [1, 2, 3].flatMap((accountId) => [send(accountId, 10, ended.promise), send(accountId, 10, ended.promise)]);
  assert.equal(await Promise.race(greedy), "unavailable");
  assert.equal(await send(4, 4), "invalid_request", "all of it arrived, though it is no picture");
  ended.resolve();
  const codes = await Promise.all(greedy);
  assert.deepEqual(new Set(codes), new Set(["unavailable", "invalid_request"]));
  assert.equal(await send(1, 10), "invalid_request", "the bytes are free again");
});

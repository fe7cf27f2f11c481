import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import sql from "sql-template-tag";
import type { Database } from "../src/platform/db/database.ts";
import { openPostgres } from "../src/platform/db/postgres.ts";
import { openBlobs, type Blobs } from "../src/publishing/projects/shared-bytes.ts";
import { newDatabase } from "./support/postgres.ts";

const dayMs = 24 * 60 * 60_000;
const time = { now: Date.UTC(2026, 5, 15, 12) };
let db: Database;
let blobs: Blobs;
let drop: () => Promise<void>;

before(async () => {
  const database = await newDatabase(undefined, { migrated: true });
  drop = database.drop;
  db = openPostgres(database.url, { onError: () => undefined });
  blobs = openBlobs(db, () => time.now);
});
after(async () => {
  await db.close();
  await drop();
});

const bytesOf = async (name: string): Promise<Buffer> => Buffer.concat(await Array.fromAsync(blobs.read(name)));
const count = async (): Promise<number> => Number((await db.query<{ n: number }>(sql`SELECT COUNT(*) AS n FROM blobs`))[0]?.n);
const hash = (): string => randomBytes(32).toString("hex");

test("bytes of every size come back as they were stored", async () => {
  for (const size of [0, 1, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, 3_000_000]) {
    const bytes = randomBytes(size);
    const name = hash();
    assert.equal(await blobs.put(name, Readable.from([bytes.subarray(0, 1000), bytes.subarray(1000)])), size);
    assert.ok((await bytesOf(name)).equals(bytes), `${size}`);
    assert.deepEqual(await blobs.sizes([name, hash()]), new Map([[name, size]]));
  }
});

test("if two writers store one name at once, the first is kept whole, and both get its size", async () => {
  const name = hash();
  const [one, other] = [randomBytes(600_000), randomBytes(700_000)];
  const rows = await count();
  const [told, toldOther] = await Promise.all([one, other].map((bytes) => blobs.put(name, Readable.from([bytes]))));
  assert.equal(told, toldOther);
  assert.ok((await bytesOf(name)).equals(told === one.length ? one : other));
  assert.equal((await count()) - rows, 1);
});

test("bytes that were changed in the database are not read as complete", async () => {
  const name = hash();
  await blobs.put(name, Readable.from([Buffer.from("to be served")]));
  await db.write(async (tx) => {
    await tx.query(sql`
      UPDATE blob_pieces SET content = ${Buffer.from("not to be it")} WHERE blob_id = (SELECT id FROM blobs WHERE name = ${name})`);
  });
  await assert.rejects(bytesOf(name), /are not those that were stored/);
  await assert.rejects(bytesOf(hash()), /there are no bytes/);
});

test("a body that breaks off leaves nothing behind", async () => {
  const rows = await count();
  async function* broken(): AsyncGenerator<Buffer> {
    yield randomBytes(600_000);
    throw new Error("connection lost");
  }
  await assert.rejects(blobs.put("upload/broken", broken()), /connection lost/);
  assert.equal(await count(), rows);
});

test("the remains of a killed process are deleted after a day: incomplete bytes, and uploads that no deployment waits for", async () => {
  await db.write(async (tx) => void (await tx.query(sql`INSERT INTO blobs (id, made_at) VALUES ('half', ${time.now})`)));
  await blobs.put("upload/left.tar.gz", Readable.from([Buffer.from("packed")]));
  const content = hash();
  await blobs.put(content, Readable.from([Buffer.from("published")]));
  const rows = await count();
  time.now += dayMs;
  await blobs.expire(time.now);
  assert.equal(await count(), rows);
  time.now += 1;
  await blobs.expire(time.now);
  assert.equal(await count(), rows - 2);
  assert.equal((await bytesOf(content)).toString(), "published");
});

test("content that no deployment claims is marked as unused after a day, once for all its forms", async () => {
  const name = hash();
  for (const form of [name, `${name}.br`]) await blobs.put(form, Readable.from([Buffer.from("orphan")]));
  const noted = async () => (await db.query(sql`SELECT hash FROM unused_files WHERE hash = ${name}`)).length;
  await blobs.noteOrphans(time.now);
  assert.equal(await noted(), 0);
  time.now += dayMs + 1;
  await blobs.noteOrphans(time.now);
  assert.equal(await noted(), 1);
});

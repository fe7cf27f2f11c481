import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { constants, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import type { Bounds } from "../../platform/bounds.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { slots } from "../../platform/jobs/fair-share.ts";
import { createTally } from "../../platform/jobs/tally.ts";
import { invalidAt, overloaded } from "../../platform/problem.ts";
import type { PhotoForm, PicturePurpose, ProcessAnswer } from "./photos.ts";
import { insertForms, markBeforeUse, requireStored } from "./photos.store.ts";

/**
 * An encoded picture that no photo has yet; `fingerprint` is the SHA-256 of the uploaded bytes. Its forms are stored, except in a dry run.
 */
export type ReceivedPhoto = { fingerprint: string; width: number; height: number; forms: PhotoForm[]; isStored: boolean };

/** The part of the published content that uploads use. `publish` and `hold` keep the bytes until `release`. */
type PhotoContent = {
  publish: (files: readonly { hash: string; bytes: Buffer }[]) => Promise<void>;
  hold: (hashes: readonly string[]) => void;
  release: (hashes: readonly string[]) => void;
};

type PhotoParts = { db: Database; content: PhotoContent; bounds: Pick<Bounds, "refused"> };
type Encoded = { answer: ProcessAnswer; bodies: Buffer };

/** The most uploads in progress, waiting ones included: each holds its bytes in memory. */
const atOnceMax = 8;
const atOnceMaxEach = 2;
/**
 * The most CPU time (ms) for one picture, which a busy machine does not use up; and the most elapsed time, for a process that hangs without
 * using CPU time or gets none.
 */
const encodingLimits = { cpuMsMax: 30_000, msMax: 120_000 };
const script = fileURLToPath(new URL("picture-process.ts", import.meta.url));

/** Receives pictures, encodes them one at a time, each in a separate low-priority process, and publishes their forms. */
export function openPhotoUploads(
  parts: PhotoParts,
  encode: (picture: Buffer, purpose: PicturePurpose) => Promise<Encoded> = encodeInProcess,
) {
  const { db, content, bounds } = parts;
  const receivePicture = openReceiver(bounds);
  const inTurn = slots(1);
  /** The pictures that wait or are being encoded, by purpose and fingerprint: concurrent uploads of one picture share its encoding. */
  const preparing = new Map<string, Promise<ReceivedPhoto>>();

  const encodeInTurn = async (picture: Buffer, purpose: PicturePurpose): Promise<Encoding> =>
    encodingOf(await inTurn(() => encode(picture, purpose)), fingerprintOf(picture));

  function prepareOnce(picture: Buffer, purpose: PicturePurpose): Promise<ReceivedPhoto> {
    const key = `${purpose} ${fingerprintOf(picture)}`;
    const running = preparing.get(key);
    if (running !== undefined) return running;
    const prepared = encodeInTurn(picture, purpose)
      .then((encoding) => store(parts, encoding))
      .finally(() => preparing.delete(key));
    preparing.set(key, prepared);
    // By then each upload holds the content.
    prepared.then(
      (received) => setImmediate(() => content.release(hashesOf(received))),
      () => undefined,
    );
    return prepared;
  }

  return {
    /** Encodes and stores a picture. @throws Problem `unavailable`; `invalid_request` for a file that is not a usable picture */
    receive: (accountId: number, body: AsyncIterable<Buffer>, purpose: PicturePurpose = "photo"): Promise<ReceivedPhoto> =>
      receivePicture(accountId, body, async (picture) => {
        const received = await prepareOnce(picture, purpose);
        content.hold(hashesOf(received));
        return received;
      }),
    /** Encodes a photo for a dry run, and stores nothing. Throws what `receive` throws. */
    rehearse: (accountId: number, body: AsyncIterable<Buffer>): Promise<ReceivedPhoto> =>
      receivePicture(accountId, body, async (picture) => ({ ...(await encodeInTurn(picture, "photo")).photo, isStored: false })),
    /** @throws Problem `storage_limit_reached`; `unavailable` if the content was removed meanwhile */
    claim: async (tx: Transaction, accountId: number, photoId: number, { forms, isStored }: ReceivedPhoto): Promise<void> => {
      if (isStored) await requireStored(tx, db.engine, forms);
      await insertForms(tx, { accountId, photoId }, forms);
    },
    /** Keeps the forms of a logo, which a deployment is about to claim, until the transaction ends. @throws Problem `unavailable` */
    requireStored: async (tx: Transaction, { forms }: Stored) => requireStored(tx, db.engine, forms),
    /** Releases the content: it is removed unless a photo has it now. */
    finish: (received: Stored) => content.release(hashesOf(received)),
  };
}

/** Returns a function that reads a picture and passes it to `work`. It throws Problem `unavailable` while too many uploads are in progress. */
function openReceiver(bounds: PhotoParts["bounds"]) {
  const receiving = createTally<number>();
  return async <T>(accountId: number, body: AsyncIterable<Buffer>, work: (picture: Buffer) => Promise<T>): Promise<T> => {
    const all = receiving.counts.values().reduce((sum, count) => sum + count, 0);
    if (receiving.of(accountId) >= atOnceMaxEach || all >= atOnceMax) {
      bounds.refused("uploads");
      throw overloaded("Too many photos are arriving. Try again when they are done.", 2);
    }
    receiving.add(accountId);
    try {
      return await work(Buffer.concat(await Array.fromAsync(body)));
    } finally {
      receiving.take(accountId);
    }
  };
}

type Stored = Pick<ReceivedPhoto, "forms">;
type Encoding = { photo: Omit<ReceivedPhoto, "isStored">; files: { hash: string; bytes: Buffer }[] };

/** @throws Problem `invalid_request` for a file that is not a usable picture */
function encodingOf({ answer, bodies }: Encoded, fingerprint: string): Encoding {
  if ("refusal" in answer) throw unusable(answer.refusal);
  const { width, height, forms } = answer;
  return { photo: { fingerprint, width, height, forms }, files: cut(bodies, forms) };
}

/** Publishes the forms of a picture, which stay held. */
async function store({ db, content }: PhotoParts, { photo, files }: Encoding): Promise<ReceivedPhoto> {
  await markBeforeUse(db, [...new Set(photo.forms.map(({ hash }) => hash))]);
  await content.publish(files);
  return { ...photo, isStored: true };
}

const fingerprintOf = (picture: Buffer): string => createHash("sha256").update(picture).digest("hex");

const hashesOf = ({ forms }: Stored): string[] => forms.map(({ hash }) => hash);

function unusable(why: string) {
  return invalidAt("body", "must be a whole picture", `The picture cannot be used: ${why}.`);
}

function cut(bodies: Buffer, forms: readonly PhotoForm[]): { hash: string; bytes: Buffer }[] {
  let from = 0;
  return forms.map(({ hash, bytes }) => ({ hash, bytes: bodies.subarray(from, (from += bytes)) }));
}

/** @throws Problem `unavailable` if `msMax` passes before the picture has used `cpuMsMax` */
export async function encodeInProcess(picture: Buffer, purpose: PicturePurpose, { cpuMsMax, msMax } = encodingLimits): Promise<Encoded> {
  const args = ["--max-old-space-size=128", script, purpose, String(cpuMsMax)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"], env: {} });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, msMax);
  try {
    const ended = new Promise<{ code: number | null }>((resolve, reject) => {
      child.on("error", reject).on("close", (code) => resolve({ code }));
    });
    ended.catch(() => undefined);
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    child.stdin.on("error", () => undefined).end(picture);
    const output = Buffer.concat(await Array.fromAsync(child.stdout as AsyncIterable<Buffer>));
    const { code } = await ended;
    if (isLate) throw overloaded("The server is too busy to prepare the photo. Try again in a few minutes.", 60);
    if (code === null) return { answer: { refusal: "it takes too long, or too much memory, to decode" }, bodies: Buffer.alloc(0) };
    if (code !== 0) throw new Error(`the process that encodes pictures ended with ${code}`);
    const end = output.indexOf("\n");
    return { answer: JSON.parse(output.toString("utf8", 0, end)) as ProcessAnswer, bodies: output.subarray(end + 1) };
  } finally {
    clearTimeout(timer);
    child.kill("SIGKILL");
  }
}

import { createHash } from "node:crypto";
import type { Bound, Bounds } from "../../platform/bounds.ts";
import type { Context } from "../../platform/context.ts";
import type { Database, Transaction } from "../../platform/db/database.ts";
import { runInTurn } from "../../platform/jobs/fair-share.ts";
import { createTally } from "../../platform/jobs/tally.ts";
import type { Logger } from "../../platform/log.ts";
import { invalidAt, overloaded, type Problem } from "../../platform/problem.ts";
import { insertForms, markBeforeUse, requireStored } from "./photos.store.ts";
import { formatOf, type PhotoForm, type PicturePurpose } from "./photos.ts";
import { encodeInProcess, type Encoded, type EncodingEnd, type Picture } from "./picture-encoding.ts";

/**
 * An encoded picture that no photo has yet; `fingerprint` is the SHA-256 of the uploaded bytes. Its forms are stored, except in a dry run.
 */
export type ReceivedPhoto = { fingerprint: string; width: number; height: number; forms: PhotoForm[]; isStored: boolean };

/** The part of the published content that uploads use. `publish` and `pin` keep the bytes until `release`. */
type PhotoContent = {
  publish: (files: readonly { hash: string; bytes: Buffer }[]) => Promise<void>;
  pin: (hashes: readonly string[]) => void;
  release: (hashes: readonly string[]) => void;
};

/** Who uploads a picture. `hasGone` says whether the client has closed its connection. */
type Uploader = { accountId: number; hasGone: () => boolean };

/** The most uploads of one account in progress, waiting ones included. */
const uploadsMaxEach = 2;
/** The most bytes of pictures in memory. An account may hold as many of them as are free, so that some stay free for the others. */
const heldBytesMax = 64 * 1_048_576;

/** Receives pictures, encodes them in turns by account, and publishes their forms. */
export function openPhotoUploads(
  { db, bounds, log }: Pick<Context, "db" | "bounds"> & { log: Pick<Logger, "warn"> },
  content: PhotoContent,
  encode: (picture: Picture) => Promise<Encoded> = encodeInProcess,
) {
  const receivePicture = openReceiver(bounds);
  const turns = bounds.queue<number>("pictures");

  /** @throws Problem `invalid_request` for a file that is not a usable picture */
  async function encodeInTurn({ accountId, hasGone }: Uploader, bytes: Buffer, purpose: PicturePurpose): Promise<Encoding> {
    const format = formatOf(bytes);
    if (format === undefined) throw unusable("it is not a JPEG, PNG, WebP or AVIF picture");
    const encoded = await runInTurn(turns, accountId, () => {
      if (hasGone()) throw overloaded("The client closed its connection before the photo had its turn.");
      return encode({ bytes, format, purpose });
    });
    if ("answer" in encoded) return encodingOf(encoded, bytes);
    const { bound, problem } = endings[encoded.ended];
    if (bound !== undefined) bounds.refused(bound);
    log.warn({ account: accountId, reason: encoded.ended }, "a picture process was ended");
    throw problem();
  }

  return {
    /** Encodes and stores a picture. @throws Problem `unavailable`; `invalid_request` for a file that is not a usable picture */
    receive: (uploader: Uploader, body: AsyncIterable<Buffer>, purpose: PicturePurpose = "photo"): Promise<ReceivedPhoto> =>
      receivePicture(uploader, body, async (bytes) => store(db, content, await encodeInTurn(uploader, bytes, purpose))),
    /** Encodes a photo for a dry run, and stores nothing. Throws what `receive` throws. */
    rehearse: (uploader: Uploader, body: AsyncIterable<Buffer>): Promise<ReceivedPhoto> =>
      receivePicture(uploader, body, async (bytes) => ({ ...(await encodeInTurn(uploader, bytes, "photo")).photo, isStored: false })),
    /** @throws Problem `storage_limit_reached`; `unavailable` if the content was removed meanwhile */
    claim: async (tx: Transaction, accountId: number, photoId: number, { forms, isStored }: ReceivedPhoto): Promise<void> => {
      if (isStored) await requireStored(tx, db.engine, forms);
      await insertForms(tx, { accountId, photoId }, forms);
    },
    /** Keeps the forms of a logo, which a deployment is about to claim, until the transaction ends. @throws Problem `unavailable` */
    requireStored: async (tx: Transaction, { forms }: StoredForms) => requireStored(tx, db.engine, forms),
    /** Releases the content: it is removed unless a photo has it now. */
    finish: (received: StoredForms) => content.release(hashesOf(received)),
  };
}

/** Returns a function that reads a picture and passes it to `work`. It throws Problem `unavailable` beyond the bounds of uploads. */
function openReceiver(bounds: Pick<Bounds, "refused">) {
  const receiving = createTally<number>();
  const held = createTally<number>();
  let heldBytes = 0;

  function free(accountId: number, chunks: Buffer[]): void {
    for (const { length } of chunks.splice(0)) {
      held.take(accountId, length);
      heldBytes -= length;
    }
  }

  function refuse(message: string): never {
    bounds.refused("uploads");
    throw overloaded(message, 2);
  }

  return async <T>({ accountId }: Uploader, body: AsyncIterable<Buffer>, work: (picture: Buffer) => Promise<T>): Promise<T> => {
    if (receiving.of(accountId) >= uploadsMaxEach) refuse("Two photos of this account are arriving. Try again when they are done.");
    receiving.add(accountId);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of body) {
        if (held.of(accountId) + chunk.length > heldBytesMax - heldBytes) {
          free(accountId, chunks); // at once: the account's other photo may need the room
          refuse("Too many photos are arriving. Try again in a moment.");
        }
        chunks.push(chunk);
        held.add(accountId, chunk.length);
        heldBytes += chunk.length;
      }
      chunks.push(Buffer.concat(chunks.splice(0)));
      return await work(chunks[0]!);
    } finally {
      free(accountId, chunks);
      receiving.take(accountId);
    }
  };
}

type StoredForms = Pick<ReceivedPhoto, "forms">;
type Encoding = { photo: Omit<ReceivedPhoto, "isStored">; files: { hash: string; bytes: Buffer }[] };

function encodingOf({ answer, bodies }: Exclude<Encoded, { ended: EncodingEnd }>, picture: Buffer): Encoding {
  if ("refusal" in answer) throw unusable(answer.refusal);
  const { width, height, forms } = answer;
  return { photo: { fingerprint: fingerprintOf(picture), width, height, forms }, files: cut(bodies, forms) };
}

/** Publishes the forms of a picture, which stay held. */
async function store(db: Database, content: PhotoContent, { photo, files }: Encoding): Promise<ReceivedPhoto> {
  await markBeforeUse(db, [...new Set(photo.forms.map(({ hash }) => hash))]);
  await content.publish(files);
  return { ...photo, isStored: true };
}

const fingerprintOf = (picture: Buffer): string => createHash("sha256").update(picture).digest("hex");

const hashesOf = ({ forms }: StoredForms): string[] => forms.map(({ hash }) => hash);

/** What an upload is answered whose process ended without an answer, and the bound that it exceeded. */
const endings: Record<EncodingEnd, { bound?: Bound; problem: () => Problem }> = {
  memory: {
    bound: "picture_memory",
    problem: () => unusable("it takes more than 512 MiB of memory to decode. Save it smaller, or as a JPEG"),
  },
  "cpu time": {
    bound: "picture_cpu_time",
    problem: () => unusable("it takes more than 5 seconds of CPU time. Save it smaller, or as a JPEG"),
  },
  time: {
    bound: "picture_time",
    problem: () => overloaded("The server is too busy to prepare the photo. Try again in a few minutes.", 60),
  },
  crash: { problem: () => unusable("it cannot be decoded. Save it again, or as a JPEG") },
  killed: { problem: () => overloaded("The server ended the preparation of the photo, which may lack memory. Try again in a minute.", 60) },
};

function unusable(why: string): Problem {
  return invalidAt("body", "must be a whole picture", `The picture cannot be used: ${why}.`);
}

function cut(bodies: Buffer, forms: readonly PhotoForm[]): { hash: string; bytes: Buffer }[] {
  let from = 0;
  return forms.map(({ hash, bytes }) => ({ hash, bytes: bodies.subarray(from, (from += bytes)) }));
}

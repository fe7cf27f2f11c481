import { formatBytes, formatNumber, texts } from "../texts/texts.ts";
import { bytesOf, siteProblem } from "./publishable.ts";
import { projectFileName, siteLimits, type SiteFile, type SiteProblem } from "./site.ts";
import { tarOf, type TarFile } from "./tar.ts";

export { publishable, shown } from "./publishable.ts";

/** A gzipped tar or a zip file with its Idempotency-Key: however often it is sent, it is deployed once. */
export type Packed = { blob: Blob; key: string };

type Options = { onProgress: (part: number) => void; signal: AbortSignal };

const words = texts.projects.upload;

/** Packs a folder; memory use is bounded by the largest upload allowed. @throws Error with a message for people if it exceeds a limit */
export async function packFolder(files: readonly SiteFile[], { onProgress, signal }: Options): Promise<Packed> {
  const problem = siteProblem(files);
  if (problem) throw new Error(wordsFor(problem));
  await requireJson(files);
  const total = bytesOf(files) || 1;
  let read = 0;
  const count = (stream: ReadableStream<Uint8Array<ArrayBuffer>>) =>
    stream.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          read += chunk.length;
          onProgress(read / total);
          controller.enqueue(chunk);
        },
      }),
    );
  const entries = files.map(({ path, file }): TarFile => ({ path, size: file.size, content: () => count(file.stream()) }));
  const gzipped = streamOf(tarOf(entries)).pipeThrough(new CompressionStream("gzip"), { signal });
  return packedOf(await collect(gzipped), "application/gzip");
}

/** Accepts an archive as it is; the service checks its contents. @throws Error with a message for people */
export async function takeArchive(file: File): Promise<Packed> {
  if (file.size > siteLimits.packedBytesMax) throw new Error(words.tooLargePacked(formatBytes(siteLimits.packedBytesMax)));
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (first === 0x1f && second === 0x8b) return packedOf([file], "application/gzip");
  if (first === 0x50 && second === 0x4b) return packedOf([file], "application/zip");
  throw new Error(words.notArchive(file.name));
}

function packedOf(parts: BlobPart[], mediaType: string): Packed {
  const key = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");
  return { blob: new Blob(parts, { type: mediaType }), key };
}

async function collect(gzipped: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<BlobPart[]> {
  const chunks: BlobPart[] = [];
  let bytes = 0;
  await gzipped.pipeTo(
    new WritableStream({
      write(chunk) {
        bytes += chunk.length;
        if (bytes > siteLimits.packedBytesMax) throw new Error(words.tooLargePacked(formatBytes(siteLimits.packedBytesMax)));
        chunks.push(chunk);
      },
    }),
  );
  return chunks;
}

function streamOf(chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}

async function requireJson(files: readonly SiteFile[]): Promise<void> {
  const projectFile = files.find(({ path }) => path === projectFileName);
  try {
    JSON.parse((await projectFile?.file.text()) ?? "");
  } catch (error) {
    throw new Error(words.notJson(error instanceof Error ? error.message : ""), { cause: error });
  }
}

function wordsFor(problem: SiteProblem): string {
  if (problem.kind === "noProjectFile") return words.noProjectFile(problem.nested);
  if (problem.kind === "largeFile") return words.largeFile(problem.path, formatBytes(siteLimits.fileBytesMax));
  if (problem.kind === "tooManyFiles") return words.tooManyFiles(formatNumber(siteLimits.filesMax));
  if (problem.kind === "tooLarge") return words.tooLarge(formatBytes(siteLimits.unpackedBytesMax));
  return words.empty;
}

/** A file of a folder that is to be published, by its path inside it. */
export type SiteFile = { path: string; file: File };

const oneMiB = 1_048_576;
/** What the service takes of one upload, so that a folder beyond it is told so before anything is sent. */
export const siteLimits = { filesMax: 2_000, fileBytesMax: 25 * oneMiB, unpackedBytesMax: 200 * oneMiB, packedBytesMax: 50 * oneMiB };
export const projectFileName = "petstore.json";
/** Files that are looked at in a folder; a folder with more is refused whatever they are. */
export const lookedAtMax = 20_000;

/** Why a folder cannot be published. */
export type SiteProblem =
  | { kind: "empty" }
  | { kind: "tooManyFiles" }
  | { kind: "noProjectFile"; nested: string | undefined }
  | { kind: "largeFile"; path: string }
  | { kind: "tooLarge" };

/** Leaves out what tools leave behind, as `petstore deploy` does: hidden files and folders, and `node_modules`. */
export function publishable(files: readonly SiteFile[]): SiteFile[] {
  return files.filter(({ path }) => !path.split("/").some(isLeftOut));
}

export function isLeftOut(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

/** What a folder breaks of the limits; undefined where it can be packed. */
export function siteProblem(files: readonly { path: string; file: { size: number } }[]): SiteProblem | undefined {
  const { filesMax, fileBytesMax, unpackedBytesMax } = siteLimits;
  if (files.length === 0) return { kind: "empty" };
  const served = files.filter(({ path }) => path !== projectFileName);
  if (served.length === files.length) return { kind: "noProjectFile", nested: nestedProjectFile(files) };
  if (served.length > filesMax) return { kind: "tooManyFiles" };
  const large = files.find(({ file }) => file.size > fileBytesMax);
  if (large) return { kind: "largeFile", path: large.path };
  return bytesOf(files) > unpackedBytesMax ? { kind: "tooLarge" } : undefined;
}

export function bytesOf(files: readonly { file: { size: number } }[]): number {
  return files.reduce((total, { file }) => total + file.size, 0);
}

/** The folder below that looks like the one that was meant: the one nearest to the top. */
function nestedProjectFile(files: readonly { path: string }[]): string | undefined {
  const depthOf = (path: string): number => path.split("/").length;
  return files
    .map(({ path }) => path)
    .filter((path) => path.endsWith(`/${projectFileName}`))
    .toSorted((a, b) => depthOf(a) - depthOf(b))[0];
}

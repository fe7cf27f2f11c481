/** The folder of installed packages, whose many files are not even read. */
export const packagesFolder = "node_modules";

/** A file to publish, with its path inside the folder. */
export type SiteFile = { path: string; file: File };

const oneMiB = 1_048_576;
/** The service's limits for one upload, checked before anything is sent. */
export const siteLimits = { filesMax: 2_000, fileBytesMax: 25 * oneMiB, unpackedBytesMax: 200 * oneMiB, packedBytesMax: 50 * oneMiB };
export const projectFileName = "petstore.json";
/** The most files read from a folder; a larger folder is refused whatever it contains. */
export const filesReadMax = 20_000;

/** The reason why a folder cannot be published, written for people. */
export type SiteProblem =
  | { kind: "empty" }
  | { kind: "tooManyFiles" }
  | { kind: "noProjectFile"; nested: string | undefined }
  | { kind: "largeFile"; path: string }
  | { kind: "tooLarge" };

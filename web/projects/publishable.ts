import { isLeftOut, leftOutShownMax } from "../../src/platform/left-out.ts";
import { packagesFolder, projectFileName, siteLimits, type SiteFile, type SiteProblem } from "./site.ts";

/** Divides the files of a folder into those to publish and the paths of the others, as `petstore deploy` does. Installed packages are left out too. */
export function publishable(all: readonly SiteFile[]): { files: SiteFile[]; leftOut: string[] } {
  const isKept = ({ path }: SiteFile): boolean => !isLeftOut(path) && !path.split("/").includes(packagesFolder);
  return { files: all.filter(isKept), leftOut: all.filter((file) => !isKept(file)).map(({ path }) => path) };
}

/** The first of these paths, with a sign that there are more. */
export function shown(paths: readonly string[]): string[] {
  return paths.length > leftOutShownMax ? [...paths.slice(0, leftOutShownMax), "…"] : [...paths];
}

/** Returns why a folder cannot be published; undefined if it can. */
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

/** Returns the petstore.json nearest to the top; its folder is probably the one to publish. */
function nestedProjectFile(files: readonly { path: string }[]): string | undefined {
  const depthOf = (path: string): number => path.split("/").length;
  return files
    .map(({ path }) => path)
    .filter((path) => path.endsWith(`/${projectFileName}`))
    .toSorted((a, b) => depthOf(a) - depthOf(b))[0];
}

import { readdir, readFile, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { createGzip } from "node:zlib";
import { isLeftOut, leftOutShownMax } from "../platform/left-out.ts";
import { Problem } from "../platform/problem.ts";
import { answered, projectBySlug, upload } from "./calls.ts";
import type { Command } from "./command.ts";
import { connect, connectionOf, connectionOptions, defaultsOf, linesTo } from "./connection.ts";
import { allBytes } from "./input-output.ts";

/** The largest packed site (specification 6.3). */
export const packedBytesMax = 50 * 1_048_576;
const pollMs = 500;
const pollsMax = 600;

export const deploy: Command = {
  name: "deploy",
  summary: "Publish a folder with petstore.json, or a packed one (.zip, .tar.gz; - reads it from standard input), and print its address",
  options: { project: { value: "SLUG", required: true, about: "the project that serves it" }, ...connectionOptions },
  operands: ["DIR"],
  async run({ options, operands: [folder = ""] }, io) {
    const connection = connectionOf(options, defaultsOf(io));
    const tell = linesTo(io);
    const client = await connect(connection, tell);
    const project = await projectBySlug(client, String(options["project"]));
    const warnings: string[] = [];
    const warn = (line: string) => (warnings.push(line), tell(line));
    const pack = () => (tell(`Packing ${folder} …`), packFolder(folder, warn));
    const packed = folder === "-" ? await allBytes(io, packedBytesMax) : ((await packedFile(folder)) ?? (await pack()));
    if (packed.length > packedBytesMax) throw tooLarge(folder);
    tell(`Uploading ${Math.ceil(packed.length / 1024)} KiB …`);
    let deployment = await upload(client, connection.key, project.id, packed);
    const path = { projectId: project.id, deploymentId: deployment.id };
    tell("Unpacking …");
    for (let poll = 0; deployment.status === "queued" && poll < pollsMax; poll++) {
      await wait(pollMs);
      deployment = await answered(client.GET("/projects/{projectId}/deployments/{deploymentId}", { params: { path } }));
    }
    if (deployment.status === "failed") throw new Problem("invalid_request", deployment.error ?? "The deployment failed.");
    if (deployment.status === "queued")
      throw new Problem("unavailable", `Deployment ${deployment.id} is still waiting. See the dashboard later.`);
    const { count, paths } = deployment.leftOut;
    if (count > 0) warn(leftOutLine(paths, count));
    // The deployment's petstore.json may have changed the primary domain, and so the address.
    const { url } = await answered(client.GET("/projects/{projectId}", { params: { path: { projectId: project.id } } }));
    const files = `${deployment.files} file${deployment.files === 1 ? "" : "s"}`;
    return { json: { url, deployment, warnings }, text: `Deployment ${deployment.id} is live: ${files} at ${url}` };
  },
};

/** A file that the service unpacks; undefined if the path is none. */
async function packedFile(path: string): Promise<Buffer | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  if (found.size > packedBytesMax) throw tooLarge(path);
  return readFile(path);
}

function tooLarge(path: string): Problem {
  return new Problem("payload_too_large", `${path} is over 50 MiB packed.`);
}

/** The limits of a deployment (specification 6.3): more is refused here before it is read into memory. */
const filesMax = 2_001; // petstore.json is not one of the 2,000
const fileBytesMax = 25 * 1_048_576;
const folderBytesMax = 200 * 1_048_576;

/**
 * Packs a folder as a gzipped tar, without hidden files, what systems add, and `node_modules`.
 *
 * @param warn called with a line for each probable mistake, and one that lists what is left out
 * @throws Problem `invalid_request` for what the service would refuse
 */
export async function packFolder(folder: string, warn: (line: string) => void): Promise<Buffer> {
  const { names, leftOut } = await filesIn(folder);
  if (leftOut.length > 0) warn(leftOutLine(leftOut));
  if (!names.includes("petstore.json"))
    throw new Problem("invalid_request", `${folder} has no petstore.json: \`petstore init\` creates one`);
  if (!names.includes("index.html") && !(await hasStorefront(folder))) warn(`${folder} has no index.html: its address will answer 404.`);
  const { pack } = await import("tar-stream");
  const tar = pack();
  const packed = buffer(tar.pipe(createGzip()));
  for (const name of names) tar.entry({ name }, await readFile(join(folder, name)));
  tar.finalize();
  return packed;
}

/** @param count of all files that are left out, of which `names` may be the first */
function leftOutLine(names: readonly string[], count = names.length): string {
  const shown = names.slice(0, leftOutShownMax);
  return `Left out: ${shown.join(", ")}${count > shown.length ? ` and ${count - shown.length} more` : ""}.`;
}

/** The files to publish, and those that are not; of whole folders that are not, the folder. */
async function filesIn(folder: string): Promise<{ names: string[]; leftOut: string[] }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    throw new Problem("invalid_request", `${folder} cannot be read (${error.code ?? error.message})`);
  });
  const names: string[] = [];
  const leftOut = new Set<string>();
  let folderBytes = 0;
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(join(folder, sep).length).split(sep).join("/");
    if (entry.isDirectory()) continue;
    const [packages] = /^(?:.*\/)?node_modules(?=\/)/.exec(name) ?? [];
    if (packages !== undefined || isLeftOut(name)) {
      leftOut.add(packages ?? (name.startsWith(".git/") ? ".git" : name));
      continue;
    }
    if (!entry.isFile()) throw new Problem("invalid_request", `${path} is not a regular file: replace it with the file itself`);
    const { size } = await stat(path);
    if (size > fileBytesMax) throw new Problem("invalid_request", `${path} is over 25 MiB`);
    folderBytes += size;
    if (folderBytes > folderBytesMax) throw new Problem("invalid_request", `${folder} is over 200 MiB`);
    names.push(name);
    if (names.length > filesMax) throw new Problem("invalid_request", `${folder} has more than 2,000 files`);
  }
  return { names, leftOut: [...leftOut].toSorted((a, b) => (a < b ? -1 : 1)) };
}

/** Whether the service renders the pages. A file that is not JSON is for the service to refuse. */
async function hasStorefront(folder: string): Promise<boolean> {
  try {
    return (JSON.parse(await readFile(join(folder, "petstore.json"), "utf8")) as { storefront?: unknown }).storefront !== undefined;
  } catch {
    return false;
  }
}

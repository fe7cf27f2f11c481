import { readFile, stat } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { Problem } from "../platform/problem.ts";
import type { Command } from "./command.ts";
import { connect, connectionOf, connectionOptions, linesTo, type Environment } from "./connection.ts";
import { allBytes } from "./standard-input.ts";

const packedBytesMax = 50 * 1_048_576;
const pollMs = 500;
const pollsMax = 600;

/** Creates the command. `environment` returns the service and key to use if the options name none. */
export function deploying(environment: Environment): Command {
  return {
    name: "deploy",
    summary: "Publish a folder with petstore.json, or a packed one (.zip, .tar.gz; - reads it from standard input), and print its address",
    options: { project: { value: "SLUG", required: true, about: "the project that serves it" }, ...connectionOptions },
    operands: ["DIR"],
    async run({ options, operands: [folder = ""] }, io) {
      const { leftOutLine, packFolder } = await import("./pack.ts");
      const { answered, projectBySlug, upload } = await import("./publishing-calls.ts");
      const connection = connectionOf(options, environment(io));
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
}

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

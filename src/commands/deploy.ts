import { setTimeout as wait } from "node:timers/promises";
import { Problem } from "../platform/problem.ts";
import type { Command } from "./command.ts";
import { connect, connectionOf, connectionOptions, type Connect } from "./connection.ts";

const packedBytesMax = 50 * 1_048_576;
const pollMs = 500;
const pollsMax = 600;

/** Makes the command; `environment` is where the service's address and key are looked up when they are not options. */
export function deploying(environment: () => Connect): Command {
  return {
    name: "deploy",
    usage: "DIR --project SLUG [--url URL] [--key KEY]",
    summary: "Pack a folder with petstore.json, publish it, and print its address",
    options: { ...connectionOptions, project: { type: "string" } },
    required: ["project"],
    operands: ["DIR"],
    async run({ options, operands: [folder = ""] }) {
      const { packFolder } = await import("./pack.ts");
      const { answered, projectBySlug, upload } = await import("./publishing-calls.ts");
      const connection = connectionOf(options, environment());
      const client = await connect(connection);
      const project = await projectBySlug(client, String(options["project"]));
      process.stderr.write(`Packing ${folder} …\n`);
      const packed = await packFolder(folder);
      if (packed.length > packedBytesMax) throw new Problem("payload_too_large", `${folder} is over 50 MiB packed.`);
      process.stderr.write(`Uploading ${Math.ceil(packed.length / 1024)} KiB …\n`);
      let deployment = await upload(client, connection.key, project.id, packed);
      const path = { projectId: project.id, deploymentId: deployment.id };
      process.stderr.write("Unpacking …\n");
      for (let poll = 0; deployment.status === "queued" && poll < pollsMax; poll++) {
        await wait(pollMs);
        deployment = await answered(client.GET("/projects/{projectId}/deployments/{deploymentId}", { params: { path } }));
      }
      if (deployment.status === "failed") throw new Problem("invalid_request", deployment.error ?? "The deployment failed.");
      if (deployment.status === "queued") throw new Problem("unavailable", `Deployment ${deployment.id} still waits: look at it later.`);
      return {
        json: { url: project.url, deployment },
        text: `Deployment ${deployment.id} is live: ${deployment.files} file${deployment.files === 1 ? "" : "s"} at ${project.url}`,
      };
    },
  };
}

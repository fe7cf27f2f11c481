import { columns, UsageError, type Command } from "./command.ts";
import { connect, connectionOf, connectionOptions, linesTo, type Environment } from "./connection.ts";

const options = { project: { value: "SLUG", required: true, about: "the project of the deployments" }, ...connectionOptions } as const;

/** `deployments list|promote`; `environment` returns the service and key to use if the options name none. */
export function deploymentCommands(environment: Environment): Command[] {
  return [
    {
      name: "deployments list",
      summary: "List the deployments of a project that are kept, and which one is live",
      options,
      async run(args, io) {
        const { pages } = await import("../../client/pages.ts");
        const { projectBySlug } = await import("./publishing-calls.ts");
        const client = await connect(connectionOf(args.options, environment(io)), linesTo(io));
        const { id: projectId, deploymentId } = await projectBySlug(client, String(args.options["project"]));
        const deployments: {
          id: number;
          live: boolean;
          status: string;
          files: number;
          bytes: number;
          createdAt: string;
          error: string | null;
        }[] = [];
        for await (const page of pages(client, "/projects/{projectId}/deployments", {}, { projectId }))
          deployments.push(...page.map((one) => ({ ...one, error: one.error ?? null, live: one.id === deploymentId })));
        const rows = deployments.map(({ id, status, live, files, bytes, createdAt, error }) => {
          return [id, live ? "live" : status, files, bytes, createdAt, error];
        });
        return { json: { deployments }, text: columns(["ID", "STATUS", "FILES", "BYTES", "CREATED", "ERROR"], rows) };
      },
    },
    {
      name: "deployments promote",
      summary: "Serve an earlier deployment of a project again",
      options,
      operands: ["ID"],
      async run(args, io) {
        const deploymentId = Number(args.operands[0]);
        if (!/^[1-9]\d{0,14}$/.test(args.operands[0] ?? "")) throw new UsageError("ID must be the number of a deployment");
        const { answered, projectBySlug } = await import("./publishing-calls.ts");
        const client = await connect(connectionOf(args.options, environment(io)), linesTo(io));
        const { id: projectId, url } = await projectBySlug(client, String(args.options["project"]));
        const path = { projectId, deploymentId };
        const call = client.POST("/projects/{projectId}/deployments/{deploymentId}/promote", { params: { path } });
        const deployment = await answered(call);
        return { json: { url, deployment }, text: `Deployment ${deployment.id} is live at ${url}` };
      },
    },
  ];
}

import { columns, type Command } from "./command.ts";
import { connect, connectionOf, connectionOptions, linesTo, type Environment } from "./connection.ts";

/** `projects create|list`; `environment` returns the service and key to use if the options name none. */
export function projectCommands(environment: Environment): Command[] {
  return [
    {
      name: "projects create",
      summary: "Create a project, which is served at its slug once something is deployed",
      options: { name: { value: "NAME", about: "the name that the account's members see. Default: the slug" }, ...connectionOptions },
      operands: ["SLUG"],
      async run({ options, operands: [slug = ""] }, io) {
        const { answered } = await import("./publishing-calls.ts");
        const client = await connect(connectionOf(options, environment(io)), linesTo(io));
        const project = await answered(client.POST("/projects", { body: { name: String(options["name"] ?? slug), slug } }));
        return { json: project, text: `Project ${project.slug} is created. Deployments are served at ${project.url}` };
      },
    },
    {
      name: "projects list",
      summary: "List the account's projects",
      options: connectionOptions,
      async run({ options }, io) {
        const { pages } = await import("../../client/pages.ts");
        const client = await connect(connectionOf(options, environment(io)), linesTo(io));
        const projects = (await Array.fromAsync(pages(client, "/projects"))).flat();
        const rows = projects.map(({ slug, name, url, deploymentId }) => [slug, name, deploymentId, url]);
        return { json: { projects }, text: columns(["SLUG", "NAME", "DEPLOYMENT", "ADDRESS"], rows) };
      },
    },
  ];
}

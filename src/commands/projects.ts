import type { Schemas } from "../../client/api.gen.ts";
import { columns, ifNotExists, type Command } from "./command.ts";
import { Problem } from "../platform/problem.ts";
import { connect, connectionOf, connectionOptions, linesTo, type Environment } from "./connection.ts";

/** `projects create|list|delete`; `environment` returns the service and key to use if the options name none. */
export function projectCommands(environment: Environment): Command[] {
  return [
    {
      name: "projects create",
      summary: "Create a project, which is served at its slug once something is deployed",
      options: {
        name: { value: "NAME", about: "the name that the account's members see. Default: the slug" },
        ...ifNotExists,
        ...connectionOptions,
      },
      operands: ["SLUG"],
      async run({ options, operands: [slug = ""] }, io) {
        const { answered, unlessExists, projectBySlug } = await import("./publishing-calls.ts");
        const client = await connect(connectionOf(options, environment(io)), linesTo(io));
        const create = () => answered(client.POST("/projects", { body: { name: String(options["name"] ?? slug), slug } }));
        if (options["if-not-exists"] === true) {
          const { created, found } = await unlessExists(create, "slug_taken", () => projectBySlug(client, slug));
          const state = created ? "is created" : "exists already";
          return { json: { ...found, created }, text: `Project ${slug} ${state}. Deployments are served at ${found.url}` };
        }
        const project = await create();
        return { json: project, text: `Project ${project.slug} is created. Deployments are served at ${project.url}` };
      },
    },
    {
      name: "projects list",
      summary: "List the account's projects",
      options: connectionOptions,
      async run({ options }, io) {
        const { rows: elements } = await import("../../client/pages.ts");
        const client = await connect(connectionOf(options, environment(io)), linesTo(io));
        const projects: Schemas["Project"][] = [];
        for await (const project of elements(client, "/projects")) projects.push(project);
        const rows = projects.map(({ slug, name, url, deploymentId }) => [slug, name, deploymentId, url]);
        return { json: { projects }, text: columns(["SLUG", "NAME", "DEPLOYMENT", "ADDRESS"], rows) };
      },
    },
    {
      name: "projects delete",
      summary: "Delete a project with its deployments and domains, which are no longer served at once",
      options: { yes: { about: "confirm the deletion" }, ...connectionOptions },
      operands: ["SLUG"],
      async run({ options, operands: [slug = ""] }, io) {
        if (options["yes"] !== true)
          throw new Problem("invalid_request", `This deletes project ${slug} with everything published in it. Add --yes to confirm.`);
        const { answered, projectBySlug } = await import("./publishing-calls.ts");
        const client = await connect(connectionOf(options, environment(io)), linesTo(io));
        const { id } = await projectBySlug(client, slug);
        await answered(client.DELETE("/projects/{projectId}", { params: { path: { projectId: id } } }));
        return { json: { id, slug }, text: `Project ${slug} is deleted.` };
      },
    },
  ];
}

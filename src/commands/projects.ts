import type { Schemas } from "../../client/api.gen.ts";
import { pages, rows as elements } from "../../client/pages.ts";
import { Problem } from "../platform/problem.ts";
import { answered, projectBySlug, unlessExists } from "./calls.ts";
import { columns, ifNotExists, UsageError, type Command } from "./command.ts";
import { clientOf, connectionOptions } from "./connection.ts";

export const projectCommands: Command[] = [
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
      const client = await clientOf(options, io);
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
      const client = await clientOf(options, io);
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
      const client = await clientOf(options, io);
      const { id } = await projectBySlug(client, slug);
      await answered(client.DELETE("/projects/{projectId}", { params: { path: { projectId: id } } }));
      return { json: { id, slug }, text: `Project ${slug} is deleted.` };
    },
  },
];

const ofProject = { project: { value: "SLUG", required: true, about: "the project of the deployments" }, ...connectionOptions } as const;

export const deploymentCommands: Command[] = [
  {
    name: "deployments list",
    summary: "List the deployments of a project that are kept, and which one is live",
    options: ofProject,
    async run(args, io) {
      const client = await clientOf(args.options, io);
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
    options: ofProject,
    operands: ["ID"],
    async run(args, io) {
      const deploymentId = Number(args.operands[0]);
      if (!/^[1-9]\d{0,14}$/.test(args.operands[0] ?? "")) throw new UsageError("ID must be the number of a deployment");
      const client = await clientOf(args.options, io);
      const { id: projectId, url } = await projectBySlug(client, String(args.options["project"]));
      const path = { projectId, deploymentId };
      const call = client.POST("/projects/{projectId}/deployments/{deploymentId}/promote", { params: { path } });
      const deployment = await answered(call);
      return { json: { url, deployment }, text: `Deployment ${deployment.id} is live at ${url}` };
    },
  },
];

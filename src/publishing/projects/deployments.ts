import { DateTime, Id, named, Nullable, openEnumeration, variant } from "../../platform/http/schemas.ts";
import { Type, type Static } from "../../platform/json-schema.ts";
import type { LeftOut } from "../../platform/left-out.ts";
import { Problem } from "../../platform/problem.ts";
import type { Manifest } from "./content.ts";
import { projectFileName, type ProjectFile } from "./project-file.ts";

const deploymentStatuses = ["queued", "ready", "failed"] as const;
export type DeploymentStatus = (typeof deploymentStatuses)[number];
const DeploymentStatus = openEnumeration("DeploymentStatus", deploymentStatuses);

/** A file that a deployment publishes: the SHA-256 of its content, and its size in bytes. */
export type ClaimedFile = { hash: string; size: number };

/** What an archive contains. */
export type UnpackedSite = { projectFile: ProjectFile; manifest: Manifest; files: number; bytes: number; leftOut: LeftOut };

/** The most deployments of an account that may wait to be unpacked. */
export const waitingMax = 20;

const LeftOutFiles = named(
  "LeftOutFiles",
  Type.Object(
    { count: Type.Integer(), paths: Type.Array(Type.String(), { description: "The paths of the first 20." }) },
    {
      additionalProperties: false,
      description: "The hidden files of the upload, and those that systems add to archives. They are not served. `.well-known` is.",
    },
  ),
);

export const Deployment = named(
  "Deployment",
  Type.Object(
    {
      id: Id("Unique identifier assigned on creation."),
      projectId: Id("The project that it belongs to."),
      status: variant(DeploymentStatus, { description: "`queued`, then `ready` (and served at once) or `failed`." }),
      error: Nullable(Type.String({ description: "Why it failed, and what to change." })),
      files: Type.Integer({ description: "How many files it serves." }),
      bytes: Type.Integer({ format: "int64", description: "Their size, unpacked." }),
      leftOut: LeftOutFiles,
      url: Nullable(
        Type.String({
          description:
            "The address of this deployment alone, while it is kept; null unless it is `ready`, or if the slug is too long for it.",
        }),
      ),
      createdAt: DateTime("When it was uploaded."),
    },
    { additionalProperties: false },
  ),
);
export type Deployment = Static<typeof Deployment>;
export const Deployments = named("Deployments", Type.Array(Deployment));

export const DeploymentPath = Type.Object({
  projectId: Id("The project's identifier."),
  deploymentId: Id("The deployment's identifier."),
});

/** Why a deployment failed, in words for its owner, without details of unexpected errors. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Problem)) return "The upload could not be unpacked because of an error on our side. Upload it again.";
  const [detail] = error.details ?? [];
  const place = detail?.path.startsWith("domains.") ? `${projectFileName}: ${detail.path}: ` : "";
  return `${place}${error.message}`.slice(0, 2_000);
}

import { Type, type Static } from "../../platform/json-schema.ts";
import { DateTime, enumeration, Id, named, Nullable, variant } from "../../platform/http/schemas.ts";
import { Problem } from "../../platform/problem.ts";
import { projectFileName } from "./project-file.ts";

const deploymentStatuses = ["queued", "ready", "failed"] as const;
export type DeploymentStatus = (typeof deploymentStatuses)[number];
const DeploymentStatus = enumeration("DeploymentStatus", deploymentStatuses);

/** A file that a deployment publishes: the SHA-256 of its content, and its size in bytes. */
export type ClaimedFile = { hash: string; size: number };

/** The most deployments of an account that may wait to be unpacked. */
export const waitingMax = 20;

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

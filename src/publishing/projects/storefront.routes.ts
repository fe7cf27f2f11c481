import type { Static } from "typebox";
import type { Transaction } from "../../platform/db/database.ts";
import { type Answer, type Call, mergePatch, operation, type Operation } from "../../platform/http/operation.ts";
import { pictureBytesMax, pictureTypes } from "../../platform/http/pictures.ts";
import { Problem } from "../../platform/problem.ts";
import type { Manifest } from "./content.ts";
import { type DeploymentServices, shownDeployment } from "./deployments.routes.ts";
import { Deployment } from "./deployments.ts";
import type { ProjectServices } from "./projects.routes.ts";
import { findProject } from "./projects.store.ts";
import { projectChanged, ProjectPath } from "./projects.ts";
import type { Previewed } from "./storefront-preview.ts";
import { deployChanged, findLive, type LiveDeployment } from "./storefront-settings.store.ts";
import {
  formOf,
  hasStartPage,
  isMadeLogo,
  patchStorefront,
  type ReceivedLogo,
  ShownStorefront,
  StorefrontPreview,
  type StoredStorefront,
  Storefront,
  StorefrontPatch,
  withForm,
  withLogo,
  withoutStartPage,
  WrittenStorefront,
} from "./storefront-settings.ts";

export type StorefrontServices = DeploymentServices & {
  logos: {
    receive: (uploader: { accountId: number; hasGone: () => boolean }, body: AsyncIterable<Buffer>) => Promise<ReceivedLogo>;
    /** @throws Problem `unavailable` */
    requireStored: (tx: Transaction, received: ReceivedLogo) => Promise<void>;
    finish: (received: ReceivedLogo) => void;
    read: (hash: string, size: number) => Promise<Buffer>;
  };
  /** Renders the first page of a storefront with settings that are not saved. @throws Problem `unavailable` */
  preview: (previewed: Previewed) => Promise<string>;
};

const path = "/projects/{projectId}/storefront";
const tag = "Projects";
/** Eight pages of the longest text, and the other values. */
const formBytesMax = 384 * 1024;
const answers = { 200: { description: "The deployment with the change, which is served.", schema: Deployment } };

/** The operations of the dashboard's form for a storefront. Each change is a deployment with the files of the live one. */
export const storefrontRoutes: Operation<StorefrontServices & Pick<ProjectServices, "namesOf">>[] = [
  operation({
    operationId: "getStorefront",
    method: "GET",
    path,
    tag,
    summary: "Get the storefront of a project",
    description: "The storefront that the live deployment serves, if it has one.",
    scope: "publishing:read",
    params: ProjectPath,
    answers: { 200: { description: "The storefront.", schema: ShownStorefront } },
    problems: ["not_found"],
    read: async (db, { accountId, params: { projectId }, services }) => {
      const { manifest, stored } = await findLive(db, accountId, projectId);
      const name = stored?.settings.logo;
      const file = isMadeLogo(name) ? manifest.get(name) : undefined;
      const logo = file === undefined ? null : (await services.logos.read(file.hash, file.size)).toString("base64");
      return { status: 200, body: { settings: stored ? JSON.stringify(stored) : null, startPage: hasStartPage(manifest), logo } };
    },
  }),
  operation({
    operationId: "replaceStorefront",
    method: "PUT",
    path,
    tag,
    summary: "Publish the storefront of a project",
    description: "Serves a storefront with these settings, beside the files and the logo of the live deployment.",
    scope: "publishing:write",
    params: ProjectPath,
    body: WrittenStorefront,
    bodyBytesMax: formBytesMax,
    answers,
    problems: ["not_found", "deployment_not_ready", "storage_limit_reached"],
    write: (tx, call: Call<StorefrontServices, OneProject & { body: Static<typeof WrittenStorefront> }>) =>
      deploy(tx, call, ({ manifest, stored }) => ({
        manifest: call.body.replacesStartPage ? withoutStartPage(manifest) : manifest,
        stored: withForm(stored, call.body),
      })),
    finish: (_db, { services }) => services.announcer.waitForAll(),
  }),
  operation({
    operationId: "previewStorefront",
    method: "POST",
    path: `${path}/preview`,
    tag,
    summary: "Preview the storefront of a project",
    description: "The first page as these settings would make it, for a frame without scripts. Changes nothing.",
    scope: "publishing:write",
    params: ProjectPath,
    body: WrittenStorefront,
    bodyBytesMax: formBytesMax,
    answers: { 200: { description: "The page.", schema: StorefrontPreview } },
    problems: ["not_found"],
    read: async (db, { accountId, params: { projectId }, body, services }) => {
      const { manifest, stored } = await findLive(db, accountId, projectId);
      const html = await services.preview({ accountId, projectId, manifest, stored: withForm(stored, body) });
      return { status: 200, body: { html } };
    },
  }),
  operation({
    operationId: "publishStorefront",
    method: "PATCH",
    path,
    tag,
    summary: "Publish the storefront of a project, or change it",
    description:
      "Serves pages of the shop's pets at the address of a project, beside its other files, or changes the given fields of these pages. Without changes it only shows them.",
    scope: "publishing:write",
    forAgents: true,
    params: ProjectPath,
    body: StorefrontPatch,
    example: { params: { projectId: 1 }, body: { tagline: "Good friends", hours: [{ days: "Mon – Fri", time: "9 – 18" }] } },
    mediaTypes: mergePatch,
    answers: { 200: { description: "The storefront, which is served.", schema: Storefront } },
    problems: ["not_found", "deployment_not_ready", "storage_limit_reached"],
    write: publishStorefront,
    finish: (_db, { services }) => services.announcer.waitForAll(),
  }),
  operation({
    operationId: "setLogo",
    method: "PUT",
    path: `${path}/logo`,
    tag,
    summary: "Set the logo of a storefront",
    description: "Re-encodes a picture as the logo of the storefront and, if it is square enough, as the icon of its pages.",
    scope: "publishing:write",
    params: ProjectPath,
    upload: { mediaTypes: pictureTypes, bytesMax: pictureBytesMax, sample: "logo.png", description: "The picture, at most 10 MiB." },
    answers,
    problems: ["not_found", "project_not_deployed", "deployment_not_ready", "storage_limit_reached"],
    before: (_db, call, body) => call.services.logos.receive(call, body),
    write: async (tx, call, received) => {
      const answer = await deploy(tx, call, (live) => withLogo(requireStorefront(live), received));
      await call.services.logos.requireStored(tx, received);
      return answer;
    },
    finish: async (_db, { services }, received) => {
      services.logos.finish(received);
      await services.announcer.waitForAll();
    },
  }),
  operation({
    operationId: "deleteLogo",
    method: "DELETE",
    path: `${path}/logo`,
    tag,
    summary: "Delete the logo of a storefront",
    description: "Serves the storefront without its logo. A picture that was uploaded with the owner's files stays a file.",
    scope: "publishing:write",
    params: ProjectPath,
    answers,
    problems: ["not_found", "project_not_deployed", "deployment_not_ready", "storage_limit_reached"],
    write: (tx, call) => deploy(tx, call, (live) => withLogo(requireStorefront(live), undefined)),
    finish: (_db, { services }) => services.announcer.waitForAll(),
  }),
];

async function publishStorefront(
  tx: Transaction,
  call: Call<StorefrontServices & Pick<ProjectServices, "namesOf">, OneProject & { body: Static<typeof StorefrontPatch> }>,
): Promise<Answer> {
  const { accountId, params, body, services, now } = call;
  const { replacesStartPage, ...fields } = body;
  const project = await findProject(tx, accountId, params.projectId);
  const change = ({ manifest, stored }: LiveDeployment): StorefrontFiles => ({
    manifest: replacesStartPage ? withoutStartPage(manifest) : manifest,
    stored: patchStorefront(stored, fields, project.name),
  });
  const live = await findLive(tx, accountId, project.id);
  const after = change(live);
  const isSame = after.manifest.size === live.manifest.size && JSON.stringify(after.stored) === JSON.stringify(live.stored);
  if (!isSame) await deploy(tx, call, change);
  const [names] = await services.namesOf(tx, [project], now);
  return { status: 200, body: { ...formOf(after.stored, project.name), startPage: hasStartPage(after.manifest), url: names!.url } };
}

type OneProject = { params: Static<typeof ProjectPath> };
type StorefrontFiles = { manifest: Manifest; stored: StoredStorefront };

async function deploy(
  tx: Transaction,
  { accountId, params: { projectId }, services, now, origin }: Call<StorefrontServices, OneProject>,
  change: (live: LiveDeployment) => StorefrontFiles,
): Promise<Answer> {
  const target = { accountId, projectId, kept: services.deploymentsKept, now, origin };
  const { deployment, slug } = await deployChanged(tx, target, change);
  await services.announcer.publish(tx, projectChanged(accountId, projectId));
  return { status: 200, body: shownDeployment(deployment, slug, services) };
}

function requireStorefront({ manifest, stored }: LiveDeployment): StorefrontFiles {
  if (stored === undefined) throw new Problem("project_not_deployed", "The project serves no shop yet: publish it first.");
  return { manifest, stored };
}

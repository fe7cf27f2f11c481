import { pathTo } from "../storefront/links.ts";
import { framedPage } from "../storefront/preview.ts";
import type { RenderStorefront } from "../storefront/storefront.ts";
import type { LiveDeployment } from "./storefront-settings.store.ts";
import type { NamedStorefront } from "./storefront-settings.ts";

/** How a node renders storefronts for the dashboard. */
export type PreviewServices = {
  renderStorefront: RenderStorefront;
  /** Reads a published file. */
  read: (hash: string, size: number) => Promise<Buffer>;
  photosOrigin: string;
};

/** A storefront with settings that are not saved, and the live deployment's files. */
export type Previewed = { accountId: number; projectId: number; stored: NamedStorefront; manifest: LiveDeployment["manifest"] };

/** The most bytes of one picture of the shop's own in a preview. */
const pictureBytesMax = 256 * 1024;

/**
 * Renders the first page of a storefront with settings that are not saved, as a document for a frame. It takes a turn among the visitors of the
 * project, and no page that visitors want leaves the cache for it.
 *
 * @throws Problem `unavailable` if it gets no turn
 */
export async function previewOf(services: PreviewServices, { accountId, projectId, stored, manifest }: Previewed): Promise<string> {
  const { name, settings } = stored;
  const turn = `${projectId} account-${accountId}`;
  const request = { path: "", query: "", coding: undefined, turn, isPreview: true } as const;
  const { body } = await services.renderStorefront({ accountId, name, settings, origin: "" }, request);
  if (!Buffer.isBuffer(body)) throw new Error("the first page is no stream");
  const pictures = new Map<string, string | undefined>();
  for (const path of [settings.logo, settings.hero])
    if (path !== undefined) pictures.set(pathTo(path), await dataOf(services, manifest, path));
  return framedPage(body.toString(), { photosOrigin: services.photosOrigin, pictures });
}

/** A file as a `data:` URL; undefined if there is none, or if it is too large. */
async function dataOf({ read }: PreviewServices, manifest: LiveDeployment["manifest"], path: string): Promise<string | undefined> {
  const file = manifest.get(path);
  if (file === undefined || file.size > pictureBytesMax) return undefined;
  return `data:${file.type};base64,${(await read(file.hash, file.size)).toString("base64")}`;
}

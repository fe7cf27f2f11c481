import { cp, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { loadSettings } from "../app/settings.ts";
import { Problem } from "../platform/problem.ts";
import { administer } from "./administer.ts";
import { numeric } from "./command.ts";
import { filled, type OfService } from "./init.ts";

/** `init` with the service that runs here, or whose data folder is here. */
export const ofService: OfService = {
  publicUrl: async (io) => (await administer(io, "service.describe", {})).publicUrl,
  newKey: async (io, account) => (await administer(io, "keys.create", { account: numeric(account), publishable: true })).key,
  async openReference() {
    await requireReference();
    return writeReference;
  },
};

type Operation = { operationId: string; summary: string };

/** Where bin/build-web.mjs puts the reference, with the placeholders `{{url}}` and `{{name}}` in its page. */
const built = fileURLToPath(new URL("../../dist/reference/", import.meta.url));

/** @throws Problem `unavailable` if the reference has not been built */
async function requireReference(): Promise<void> {
  const isBuilt = await stat(join(built, "index.html")).then(
    () => true,
    () => false,
  );
  if (!isBuilt) throw new Problem("unavailable", "the API reference has not been built yet: run `npm run build` first");
}

/**
 * Copies the built API reference into `reference/` of a folder, with a page for each operation, so that its address opens on a server
 * of plain files. The pages read the description from the service at `url`, and send their requests there.
 */
async function writeReference(folder: string, url: string): Promise<void> {
  const { descriptionOf } = await import("../app/description.ts");
  const { guideTexts } = await import("../app/reference-texts.ts");
  const root = join(resolve(folder), "reference");
  await cp(built, root, { recursive: true, errorOnExist: true, force: false });
  const page = await readFile(join(root, "index.html"), "utf8");
  const paths = descriptionOf(loadSettings({})).paths as Record<string, Record<string, Operation>>;
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const pages = [
    { path: "", name: "API reference" },
    { path: "all", name: "All operations" },
    ...operations.map(({ operationId, summary }) => ({ path: operationId, name: summary })),
    ...guideTexts().map(({ path, title }) => ({ path: path.replace("/reference/", ""), name: title })),
  ];
  for (const { path, name } of pages) {
    await mkdir(join(root, path), { recursive: true });
    await writeFile(join(root, path, "index.html"), filled(page, { url, name }));
  }
}

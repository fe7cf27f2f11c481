import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { loadSettings } from "../app/settings.ts";
import { filled } from "./starter.ts";

type Operation = { operationId: string; summary: string };

const configFile = fileURLToPath(new URL("../../web/published/vite.config.ts", import.meta.url));

/**
 * Builds the API reference into `reference/` of a folder, as static files: a page for each operation, so that its address opens on
 * a server that knows files only. It reads the description from the service at `url`, and sends its requests there.
 */
export async function writeReference(folder: string, url: string): Promise<void> {
  const { build } = await import("vite");
  const { descriptionOf } = await import("../app/api.ts");
  const root = join(resolve(folder), "reference");
  await build({ configFile, logLevel: "error", build: { outDir: root } });
  const page = await readFile(join(root, "index.html"), "utf8");
  const paths = descriptionOf(loadSettings({}).getPetSunset).paths as Record<string, Record<string, Operation>>;
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const pages = [
    { path: "", name: "API reference" },
    { path: "all", name: "All operations" },
    ...operations.map(({ operationId, summary }) => ({ path: operationId, name: summary })),
  ];
  for (const { path, name } of pages) {
    await mkdir(join(root, path), { recursive: true });
    await writeFile(join(root, path, "index.html"), filled(page, { url, name }));
  }
}

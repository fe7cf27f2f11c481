import { readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { Plugin, Rolldown } from "vite";
import { earlyHeads } from "./early-heads.ts";

/**
 * The scripts that a page's first view needs besides those of every page, by the page's address, such as
 * `{"/dashboard/orders/:orderId": ["/assets/…js"]}`. The scripts of an operation's test panel are at `/reference/:operationId#try-it`.
 */
type FirstLoads = Record<string, string[]>;

type Route = { parent: string; path: string; module: string };

/** Modules that a route's module imports dynamically as soon as it runs. */
const importedAtOnce: Record<string, string[]> = {
  "reference/frame.tsx": ["frame/highlight.tsx"],
  "projects/project-page.tsx": ["projects/shop-page.tsx"],
};

const web = import.meta.dirname;
const fileName = "first-loads.json";
const headsFileName = "early-heads.json";
const routesFiles = /\/web\/[\w-]+(\/[\w-]+)*\/routes?\.ts$/;

/**
 * Writes `first-loads.json`, from which the service lists a page's scripts in the page, so that the browser does not discover them one after
 * another. Also writes `early-heads.json`, from which the service puts the title and lead into a page, visible before the scripts have run.
 */
export const firstLoads: Plugin = {
  name: "first-loads",
  generateBundle(_options, bundle) {
    const chunks = Object.values(bundle).filter((output) => output.type === "chunk");
    const files = chunks.flatMap(({ moduleIds }) => moduleIds).filter((id) => routesFiles.test(id));
    const routes = new Map(files.flatMap(routesIn));
    const loads: FirstLoads = {};
    for (const name of routes.keys()) {
      const { address, modules } = lineOf(routes, name);
      loads[address] = scriptsOf(chunks, modules);
    }
    const ofOperation = new Set(loads["/reference/:operationId"]);
    const ofPanel = new Set(scriptsOf(chunks, [join(web, "reference/try-it/panel.tsx")]));
    loads["/reference/:operationId#try-it"] = [...ofPanel.difference(ofOperation)];
    this.emitFile({ type: "asset", fileName, source: JSON.stringify(loads) });
    this.emitFile({ type: "asset", fileName: headsFileName, source: JSON.stringify(earlyHeads) });
  },
};

/** The routes that a file declares, by their names. @throws Error if a route is written in a form that this does not recognize */
function routesIn(file: string): [name: string, route: Route][] {
  const text = readFileSync(file, "utf8");
  const declared = [...text.matchAll(/const (\w+) = createRoute\(\{(.*?)\n\s*\}\);/gs)];
  const lazy = text.match(/lazyRouteComponent\(\(\)/g) ?? [];
  if (declared.length !== lazy.length)
    throw new Error(`${basename(dirname(file))}: a route is not declared as \`const name = createRoute({…})\``);
  return declared.map(([, name = "", body = ""]) => {
    const part = (pattern: RegExp): string => pattern.exec(body)?.[1] ?? "";
    const module = join(dirname(file), part(/import\("([^"]+)"\)/));
    return [name, { parent: part(/getParentRoute: \(\) => (\w+)/), path: part(/path: "([^"]+)"/), module }];
  });
}

/** The address of a page, and the modules of its route and of that route's ancestors. */
function lineOf(routes: Map<string, Route>, name: string): { address: string; modules: string[] } {
  const modules: string[] = [];
  const parts: string[] = [];
  for (let route = routes.get(name); route; route = routes.get(route.parent)) {
    modules.push(route.module, ...(importedAtOnce[relative(web, route.module)] ?? []).map((path) => join(web, path)));
    parts.unshift(...route.path.split("/").filter((part) => part !== ""));
  }
  return { address: `/${parts.join("/").replaceAll("$", ":")}`, modules };
}

function scriptsOf(chunks: Rolldown.OutputChunk[], modules: string[]): string[] {
  const named = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const ofEvery = new Set<string>();
  const own = new Set<string>();
  const collect = (into: Set<string>, file: string): void => {
    if (into.has(file)) return;
    into.add(file);
    for (const imported of named.get(file)?.imports ?? []) collect(into, imported);
  };
  for (const { isEntry, fileName: entry } of chunks) if (isEntry) collect(ofEvery, entry);
  for (const module of modules) {
    const chunk = chunks.find(({ moduleIds }) => moduleIds.includes(module));
    if (!chunk) throw new Error(`no script has ${basename(module)}`);
    collect(own, chunk.fileName);
  }
  return [...own.difference(ofEvery)].map((file) => `/${file}`);
}

import { posix } from "node:path";

/** A file by its path from the project's root. */
export type SourceFile = { path: string; text: string };

/** Every folder of the source, and the folders that it may import; a folder may always import itself. Other folders are not allowed. */
export const directions: Record<string, string[]> = {
  "src/main.ts": ["src/commands", "src/platform", "src/app"],
  "src/commands": ["src/app", "src/administration", "src/backup", "src/importing", "src/platform", "client"],
  "src/importing": ["src/platform", "client"],
  "src/app": ["src/administration", "src/backup", "src/events", "src/store", "src/callers", "src/publishing", "src/platform"],
  "src/administration": ["src/callers", "src/events", "src/publishing", "src/store/contacts", "src/store/reservations", "src/platform"],

  "src/backup": ["src/platform"],

  "src/store/imports": ["src/store/profiles", "src/store/inventory", "src/store/pets", "src/store/categories", "src/platform"],
  "src/store/profiles": ["src/store/pets", "src/platform"],
  "src/store/contacts": ["src/platform"],
  "src/store/order-details": ["src/store/orders", "src/store/profiles", "src/store/reservations", "src/platform"],
  "src/store/reservations": ["src/store/orders", "src/store/contacts", "src/store/inventory", "src/store/pets", "src/platform"],
  "src/store/orders": [
    "src/store/reservations/reservations.store.ts",
    "src/store/inventory",
    "src/store/pets",
    "src/store/categories",
    "src/platform",
  ],
  "src/store/bin": ["src/store/inventory", "src/store/profiles", "src/store/pets", "src/platform"],
  "src/store/inventory": ["src/store/bin/bin.store.ts", "src/store/profiles", "src/store/pets", "src/store/categories", "src/platform"],
  "src/store/pets": ["src/store/categories", "src/platform"],
  "src/store/categories": ["src/platform"],
  "src/store/views": ["src/store/orders", "src/store/pets", "src/platform"],

  "src/callers/gate.ts": ["src/callers/usage", "src/callers/limits", "src/callers/keys", "src/callers/accounts", "src/platform"],
  "src/callers/members": ["src/callers/limits", "src/callers/keys", "src/callers/accounts", "src/platform"],
  "src/callers/usage": ["src/callers/limits", "src/callers/keys", "src/callers/accounts", "src/platform"],
  "src/callers/limits": ["src/callers/keys", "src/callers/accounts", "src/platform"],
  "src/callers/keys": ["src/callers/accounts", "src/platform"],
  "src/callers/accounts": ["src/platform"],

  "src/events/webhooks": ["src/events/log", "src/platform"],
  "src/events/log": ["src/platform"],

  "src/publishing/certificates": [
    "src/publishing/acme",
    "src/publishing/domains",
    "src/publishing/dns",
    "src/publishing/projects",
    "src/platform",
  ],
  "src/publishing/acme": ["src/platform"],
  "src/publishing/domains": ["src/publishing/dns", "src/publishing/projects", "src/platform"],
  "src/publishing/dns": ["src/platform"],
  "src/publishing/projects": ["src/publishing/storefront", "src/platform"],
  "src/publishing/storefront": ["src/publishing/photos", "src/platform"],
  "src/publishing/photos": ["src/platform"],
  "src/publishing/hosts": [
    "src/publishing/certificates",
    "src/publishing/domains",
    "src/publishing/projects",
    "src/publishing/edge",
    "src/publishing/photos",
    "src/publishing/storefront",
    "src/platform",
  ],
  "src/publishing/edge": ["src/publishing/storefront", "src/publishing/photos", "src/platform"],

  "src/platform": [],
  client: [],
  "web/texts": [],
  "web/frame": ["web/texts"],
  "web/reference": ["client/references.ts", "web/root.tsx", "web/frame", "web/texts"],
  "web/start": ["web/root.tsx", "web/frame", "web/texts"],
  "web/calls": ["web/texts", "client"],
  "web/parts": ["web/calls", "web/frame", "web/texts"],
  "web/importing": ["src/importing", "src/platform", "client", "web"],
  "web/bin": ["src/platform/currencies.ts", "client", "web"],
  "web/pets": ["src/platform/http/pictures.ts", "src/platform/currencies.ts", "client", "web"],
  "web/home": ["src/platform/currencies.ts", "client", "web"],
  "web/orders": ["src/platform/currencies.ts", "client", "web"],
  "web/projects": ["src/platform/http/pictures.ts", "src/platform/left-out.ts", "src/publishing/storefront", "client", "web"],
  "web/webhooks": ["src/platform/event-types.ts", "client", "web"],
  web: ["client", "web"],
  bench: ["src", "client", "test/support"],
  bin: ["src/main.ts"],
};
const mayUseRoutes = /^(src\/app|src\/callers\/gate\.ts|bench)$/;
const mayReadEnvironment = /^(src\/app\/(client-)?settings\.ts$|bin\/|bench\/)/;
const mayReadTime = /^(src\/platform\/clock\.ts$|web\/|bench\/|bin\/)/;
const mayInvalidate = /^web\/calls\/rows\.ts$/;
const mayBindLimits = /^src\/platform\/db\/batches\.ts$/;
/**
 * src/platform/files.ts writes files that survive a power cut. Standard output may be a file; commands write into a person's own folders; the process
 * that encodes pictures writes a setting of the kernel.
 */
const mayWriteFiles =
  /^(src\/platform\/files\.ts$|src\/publishing\/photos\/picture-process\.ts$|src\/platform\/(db\/sqlite-recovery|log)\.ts$|src\/commands\/|web\/|bench\/|bin\/|client\/)/;
const writers = /\*|\b(?:writeFile|appendFile|rename|copyFile|cp|link|symlink|truncate)(?:Sync)?\b|\bcreateWriteStream\b|\bwriteSync\b/;
export const linesMax = 400;

/** Returns the violations of the layout, each as `path: reason`, in order. Tests may import and read anything. */
export function violations(files: SourceFile[]): string[] {
  const sources = files.filter(({ path }) => !/\.test\.tsx?$/.test(path)).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const imports = new Map(sources.map((file) => [file.path, importsOf(file)]));
  const found = sources.flatMap((file) => {
    const targets = imports.get(file.path) ?? [];
    const reasons = targets.map((target) => againstImport(file.path, target)).concat(againstText(file));
    return reasons.filter((reason) => reason !== undefined).map((reason) => `${file.path}: ${reason}`);
  });
  return [...found, ...cycles(imports)];
}

/** What a file imports: paths from the root, names of packages, or `undefined` where a dynamic import is not a literal. */
export function importsOf({ path, text }: SourceFile): (string | undefined)[] {
  const code = withoutComments(text);
  const statements = code.matchAll(/^\s*(?:import|export)\b[^'"`;()=]*?["']([^"'\n]+)["']/gm);
  const calls = code.matchAll(/\bimport\s*\(\s*(?:(["'])([^"'\n]+)\1)?/g);
  const names = [...statements].map((match) => match[1]).concat([...calls].map((match) => match[2]));
  return names.map((name) => (name?.startsWith(".") ? posix.join(posix.dirname(path), name) : name));
}

function againstImport(from: string, to: string | undefined): string | undefined {
  if (to === undefined) return "imports a file that is not named by a literal";
  if (/^(node:)?process$/.test(to)) return "imports process, which only hides where the environment is read";
  const own = placeOf(from);
  if (!/^(src|client|web|bench|bin|test)\//.test(to) || own === undefined) return undefined;
  if (!/\.\w+$/.test(to)) return `imports ${to} without its ending`;
  if (own === placeOf(to)) return /^src\/(store|callers|publishing)\//.test(to) ? againstOrderInFolder(from, to) : undefined;
  if (!directions[own]?.some((allowed) => to === allowed || to.startsWith(`${allowed}/`))) return `may not import ${to}`;
  return to.endsWith(".routes.ts") && !mayUseRoutes.test(own) ? `may not import ${to}, which src/app serves` : undefined;
}

/** Inside a folder: routes → store → rules. */
function againstOrderInFolder(from: string, to: string): string | undefined {
  const kinds = ["", ".store", ".routes"];
  const [lower, higher] = [from, to].map((path) => /^(.*?)(\.store|\.routes)?\.tsx?$/.exec(path));
  const upwards = kinds.indexOf(higher?.[2] ?? "") > kinds.indexOf(lower?.[2] ?? "");
  const isSameNoun = lower?.[1] === higher?.[1];
  return upwards && (isSameNoun || higher?.[2] === ".routes") ? `may not import ${to}: inside a folder routes → store → rules` : undefined;
}

function againstText({ path, text }: SourceFile): (string | undefined)[] {
  const code = withoutTexts(withoutComments(text));
  const lines = text.trimEnd().split("\n").length;
  return [
    placeOf(path) === undefined ? "has no place in the table of directions" : undefined,
    !mayReadEnvironment.test(path) && /\bprocess\s*(\?\.|\.)\s*env\b/.test(code)
      ? "reads process.env, which src/app/settings.ts does"
      : undefined,
    !mayReadTime.test(path) && /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(\(\s*\)|[;,)])/.test(code)
      ? "reads the time, which src/platform/clock.ts does"
      : undefined,
    !mayBindLimits.test(path) && /\bsql`[^`]*\bLIMIT \$\{/.test(withoutComments(text))
      ? "binds a bare value after LIMIT, which makes SQLite plan the statement each time: limitTo does not"
      : undefined,
    !mayInvalidate.test(path) && /\binvalidateQueries\b/.test(code)
      ? "invalidates queries, which misses a first read that is on its way: reread does not"
      : undefined,
    !mayWriteFiles.test(path) && writesFiles(text) ? "writes files, which src/platform/files.ts does" : undefined,
    lines > linesMax && !path.endsWith(".gen.ts") ? `has ${lines} lines, and ${linesMax} is the most` : undefined,
  ];
}

/** Whether a file uses a function of node:fs that writes bytes, renames or links, or opens a file to write it. */
function writesFiles(text: string): boolean {
  const code = withoutComments(text);
  const imports = code.matchAll(/^import\b([^"';]*)from\s*["'](?:node:)?fs(?:\/promises)?["']/gm);
  return [...imports].some(([, names]) => writers.test(names ?? "")) || /\bopen(?:Sync)?\([^;]*?,\s*["'`][wa]/.test(code);
}

function placeOf(path: string): string | undefined {
  return Object.keys(directions).find((place) => path === place || path.startsWith(`${place}/`));
}

/** Strings are matched first, so that a `//` in an address is not taken for a comment. */
function withoutComments(text: string): string {
  const tokens = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  return text.replaceAll(tokens, (_, string?: string) => string ?? "");
}

/** Removes strings, except for the expressions in a template. */
function withoutTexts(code: string): string {
  const strings = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g;
  return code.replaceAll(strings, (string) => (string.startsWith("`") ? (string.match(/(?<!\\)\$\{[^}]*\}/g) ?? []).join(" ") : '""'));
}

/** Returns each cycle once, beginning with its first file by name. */
function cycles(imports: Map<string, (string | undefined)[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path)) found.push(`${path}: imports in a cycle: ${[...trail.slice(trail.indexOf(path)), path].join(" → ")}`);
    if (trail.includes(path) || done.has(path)) return;
    for (const target of imports.get(path) ?? []) if (target !== undefined && imports.has(target)) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return found;
}

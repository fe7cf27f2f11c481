import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { caps } from "./bounds.ts";
import { queues } from "./queues.ts";

/*
 * What makes something that accounts and visitors share: processes, sockets, compression, databases, hashes of passwords, workers. Each file of
 * the service that uses one of these is listed below, with what bounds it (decision 0094).
 */

type Shared = Partial<Record<string, RegExp>>;

/** The modules with such functions, and the functions. */
const shared: Shared = {
  "node:child_process": /./,
  "node:cluster": /./,
  "node:crypto": /^(argon2|generateKeyPair|generatePrime|pbkdf2|scrypt)/,
  "node:dgram": /./,
  "node:dns": /^(?!getServers$)/,
  "node:dns/promises": /./,
  "node:fs": /^(createReadStream|createWriteStream|watch)/,
  "node:http": /^(Agent|createServer|get|request|default)$/,
  "node:http2": /^(connect|create(Secure)?Server|default)$/,
  "node:https": /^(Agent|createServer|get|request|default)$/,
  "node:net": /^(connect|createConnection|createServer|Server|Socket|default)$/,
  "node:sqlite": /^(backup|DatabaseSync|default)$/,
  "node:tls": /^(connect|createSecureContext|createServer|TLSSocket|default)$/,
  "node:worker_threads": /./,
  "node:zlib": /^(?!constants$|crc32$)/,
  pg: /./,
  sharp: /./,
};
/** The same for functions without an import of their own. */
const calls = /(?<![.\w]|function )(fetch|openHttpClient|openWorker|openWorkerInTurns)(<[^(]*>)?\(/g;

/** Only operators run these, in processes of their own. */
const commands = new Set(["backup", "commands", "importing"]);

type Bound = `queue ${keyof typeof queues}` | `cap ${(typeof caps)[number]}` | `only ${string}`;
const atStart = "only at the start";
const operator = "only for operators";
const inPages = "only in pages, as text";

const bounded: Record<string, Bound> = {
  "app/dns-page.ts": inPages,
  "app/doctor.ts": operator,
  "app/server.ts": atStart,
  "app/settings.ts": atStart,
  "app/storage.ts": atStart,
  "app/supervisor.ts": atStart,
  "app/tracing.ts": "only spans, in batches that wait for each other",
  "app/upgrade-check.ts": operator,
  "app/worker-metrics.ts": operator,
  "callers/limits/redis.server.ts": "only connections of the node: 32, and as many while it looks for masters",
  "callers/members/passwords.ts": "queue passwords",
  "events/webhooks/delivery-worker.ts": "queue deliveries",
  "events/webhooks/fetcher.ts": "queue photo_fetches",
  "events/webhooks/sender.ts": "queue deliveries",
  "platform/http-client.ts": "only for requests that take turns where they are sent",
  "platform/archives/byte-reader.ts": "queue unpacking",
  "platform/db/postgres-sessions.ts": "queue writer",
  "platform/db/sqlite-checkpoint-thread.ts": "queue writer",
  "platform/db/sqlite-log.ts": "queue writer",
  "platform/db/sqlite-copies.ts": operator,
  "platform/db/sqlite-space.ts": operator,
  "platform/db/sqlite.ts": "queue writer",
  "platform/files.ts": "cap uploads",
  "platform/http/http1.ts": "cap connections",
  "platform/http/samples.ts": inPages,
  "platform/http/static-files.ts": atStart,
  "platform/jobs/worker.ts": "only rows, as many as its worker says",
  "platform/listening.ts": atStart,
  "platform/lock.ts": atStart,
  "platform/socket.ts": operator,
  "publishing/acme/x509.ts": "queue certificates",
  "publishing/acme/transport.ts": "queue certificates",
  "publishing/certificates/certificate-worker.ts": "queue certificates",
  "publishing/dns/lookup.ts": "queue dns",
  "publishing/domains/checks.ts": "queue checks",
  "publishing/edge/edge.ts": "cap connections",
  "publishing/edge/tls.ts": "queue handshakes",
  "publishing/photos/picture-encoding.ts": "queue pictures",
  "publishing/photos/picture-process.ts": "queue pictures",
  "publishing/projects/content.ts": "queue compressing",
  "publishing/projects/deployment-worker.ts": "queue unpacking",
  "publishing/projects/shared-content.ts": "queue content_fetches",
  "publishing/projects/uploads.ts": "queue unpacking",
  "publishing/storefront/renderer.ts": "queue rendering",
  "publishing/storefront/sitemap.ts": "queue rendering",
  "store/imports/import-worker.ts": "queue imports",
  "store/imports/photo-worker.ts": "queue photo_fetches",
};

type Source = { path: string; text: string };

const root = join(import.meta.dirname, "..");
const sources: Source[] = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !commands.has(path.split("/")[0] ?? ""))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

/** The names that a file imports as values, with their modules. `default` stands for a whole module. */
function importsOf(text: string): [module: string, name: string][] {
  const found: [string, string][] = [];
  for (const [, names = "", module = ""] of text.matchAll(/^import (?!type\b)([^;]*?) from "([^"]+)"/gms)) {
    const [whole, listed = ""] = names.split("{");
    if (whole?.trim()) found.push([module, "default"]);
    for (const name of listed.replace("}", "").split(",")) {
      const plain = name.trim().split(" as ")[0] ?? "";
      if (plain !== "" && !plain.startsWith("type ")) found.push([module, plain]);
    }
  }
  for (const [, module = ""] of text.matchAll(/\b(?:import|require|getBuiltinModule)\("([^"]+)"\)/g)) found.push([module, "default"]);
  return found;
}

/** The shared things that a file makes. */
function madeBy(text: string): string[] {
  const imported = importsOf(text).filter(([module, name]) => shared[module]?.test(name));
  return [...imported.map(([module, name]) => `${name} of ${module}`), ...[...text.matchAll(calls)].map(([, name]) => `${name}()`)];
}

function unlisted(files: readonly Source[]): string[] {
  return files.filter(({ path }) => !(path in bounded)).flatMap(({ path, text }) => madeBy(text).map((what) => `${path}: ${what}`));
}

/** The queues that a file opens. */
const openedBy = (text: string): string[] => [...text.matchAll(/\.queue(?:<[^>]*>)?\("(\w+)"/g)].map(([, name = ""]) => name);

test("every file that makes a shared thing is listed with its bound", () => {
  assert.deepEqual(unlisted(sources), [], "give it turns (`bounds.queue`) or a cap, and add it to `bounded`");
  for (const [path, bound] of Object.entries(bounded)) {
    const source = sources.find((one) => one.path === path);
    assert.ok(source && madeBy(source.text).length > 0, `${path} makes nothing shared any more: remove it from \`bounded\``);
    const [kind = "", name = ""] = bound.split(" ");
    assert.ok(kind === "only" || (kind === "queue" ? name in queues : caps.some((cap) => cap === name)), `${path}: ${bound}`);
  }
});

for (const [what, text] of [
  ["a process", 'import { spawn } from "node:child_process";'],
  ["a thread", 'import {\n  isMainThread,\n  Worker,\n} from "node:worker_threads";'],
  ["compression", 'import { constants, brotliCompress as pack } from "node:zlib";'],
  ["a whole module", 'import tls from "node:tls";'],
  ["a module that is loaded late", 'const { default: sharp } = await import("sharp");'],
  ["a socket", 'import { isIP, connect, type Socket } from "node:net";'],
  ["a request", "const answer = await fetch(url);"],
  ["a client", "const client = openHttpClient();"],
  ["a worker", "return openWorker<Row>({ claim, run });"],
] as const)
  test(`a file with a new shared thing is found: ${what}`, () => assert.notDeepEqual(unlisted([{ path: "store/pets/new.ts", text }]), []));

test("types, checks of addresses and what only computes are no shared things", () => {
  const text =
    'import type { Socket } from "node:net";\nimport { isIP, type Server } from "node:net";\nimport { crc32 } from "node:zlib";\nthis.fetch(url);';
  assert.deepEqual(unlisted([{ path: "store/pets/new.ts", text }]), []);
});

test("every queue of the list is opened, and no place is shared outside the list", () => {
  const opened = new Set(sources.flatMap(({ text }) => openedBy(text)));
  assert.deepEqual([...opened].toSorted(), Object.keys(queues).toSorted());
  const elsewhere = sources.filter(({ path, text }) => path !== "platform/bounds.ts" && /(?<!function )\bopenFairShare[<(]/.test(text));
  assert.deepEqual(
    elsewhere.map(({ path }) => path),
    [],
  );
});

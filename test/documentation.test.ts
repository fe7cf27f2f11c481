import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { limitWaitMsMax } from "../client/limits.ts";
import { limitWaitsMax, triesMax } from "../client/sending.ts";
import { stopMs } from "../src/app/service.ts";
import { secretFileName } from "../src/app/setting.ts";
import { describeSettings } from "../src/app/settings.ts";
import { plans, quotaOf, storageLimits } from "../src/callers/accounts/accounts.ts";
import { invitationMs, linkMs } from "../src/callers/members/members.ts";
import { commonOptions, readArguments } from "../src/commands/command.ts";
import { commands } from "../src/commands/commands.ts";
import { argumentsOf, commandOf } from "../src/commands/program.ts";
import { rowCharactersMax } from "../src/importing/csv.ts";
import { batchSizeMax } from "../src/importing/load.ts";
import { petsMax } from "../src/importing/source.ts";
import { extensionLimits } from "../src/platform/archives/tar-reader.ts";
import { lockMs } from "../src/platform/db/postgres-connections.ts";
import { readersMax } from "../src/platform/db/postgres-readers.ts";
import { statementMs } from "../src/platform/db/postgres-sessions.ts";
import { writersMax } from "../src/platform/db/postgres-writers.ts";
import { problemCodes, statusOf } from "../src/platform/error-table.ts";
import { requestTimeoutMs } from "../src/platform/http/app.ts";
import { keptMs } from "../src/platform/http/idempotency.store.ts";
import { archiveLimits, depthMax, pathBytesMax } from "../src/publishing/projects/archive.ts";
import { projectsMax } from "../src/publishing/projects/projects.ts";

const names = [
  "README.md",
  "CONTRIBUTING.md",
  "docs/operating.md",
  "docs/publishing.md",
  "docs/importing.md",
  "docs/specification/1-api.md",
  "docs/specification/4-limits.md",
  "docs/specification/6-publishing.md",
  "examples/README.md",
] as const;
const pages = Object.fromEntries(names.map((name) => [name, readFileSync(new URL(`../${name}`, import.meta.url), "utf8")]));
const page = (name: (typeof names)[number]): string => pages[name] ?? "";
const settings = new Map(describeSettings({}).map((line) => [line.name, line.default]));

/** The cells of the table whose heading begins like this. */
function tableOf(text: string, heading: string): string[][] {
  const rows =
    text
      .slice(text.indexOf(`\n${heading}`) + 1)
      .split("\n\n", 1)[0]
      ?.split("\n")
      .slice(2) ?? [];
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
}

const quoted = (cell: string): string[] => Array.from(cell.matchAll(/`([^`]+)`/g), ([, text = ""]) => text);
const count = (number: number): string => number.toLocaleString("en");
const hours = (ms: number): string => `${ms / 3_600_000} hours`;
const minutes = (ms: number): string => `${ms / 60_000} minutes`;
const seconds = (ms: number): string => `${ms / 1_000} seconds`;
const words = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** The secrets, each of which can come from the file that another setting names. */
const secrets = [...settings.keys()].filter((name) => settings.has(secretFileName(name)));
const fileNames = new Set(secrets.map(secretFileName));

/** The words for an empty default: none, or a value that the service determines. */
const foundOtherwise: Record<string, string> = { SECRETS_KEY: "`DATA_DIR/secrets.key`", DNS_SERVERS: "the system's" };

test("every setting is in docs/operating.md with its default, and nothing else is there", () => {
  const documented = tableOf(page("docs/operating.md"), "| setting").flatMap(([name = "", defaults = ""]) => {
    const each = defaults.match(/`[^`]*`|[^,`]+/g)?.filter((text) => text.trim() !== "") ?? [];
    return quoted(name).map((setting, index) => [setting, (each.length === 1 ? each[0] : each[index])?.trim() ?? ""] as const);
  });
  const valued = documented.map(([name, shown]) => {
    if (shown === (foundOtherwise[name] ?? "none")) return [name, ""];
    return [name, shown.replaceAll("`", "").replaceAll(/\$(\w+)/g, (_, other: string) => settings.get(other) ?? other)];
  });
  assert.deepEqual(Object.fromEntries(valued), Object.fromEntries([...settings].filter(([name]) => !fileNames.has(name))));
  assert.equal(documented.length, settings.size - secrets.length, "each once");
  const [, ofSecrets = ""] = /^Every secret \(([^)]*)\)/m.exec(page("docs/operating.md")) ?? [];
  assert.deepEqual(quoted(ofSecrets).toSorted(), secrets.toSorted());
});

test("every variable that the documentation names is a setting, and it explains every setting of certificates", () => {
  const ofOthers = new Set(["API_KEY", "BASE_URL", "ENHANCE_YOUR_CALM", "MALLOC_ARENA_MAX", "NODE_OPTIONS"]);
  for (const [name, text] of Object.entries(pages)) {
    const named = Array.from(text.matchAll(/[^-_\w]\$?([A-Z]+_[A-Z_]+)\b/g), ([, variable = ""]) => variable);
    for (const variable of named)
      assert.ok(settings.has(variable) || ofOthers.has(variable) || variable.startsWith("PETSTORE_TEST_"), `${name}: ${variable}`);
  }
  const explained = new Set(tableOf(page("docs/publishing.md"), "| setting").flatMap(([cell = ""]) => quoted(cell)));
  assert.deepEqual(
    [...settings.keys()].filter((name) => name.startsWith("ACME_") && !explained.has(name) && !fileNames.has(name)),
    [],
  );
});

test("every command line in the documentation is one that its command takes", () => {
  const lines = Object.entries(pages).flatMap(([name, text]) =>
    Array.from(text.matchAll(/npm run (?:--silent )?petstore -- ([^`|]*?)(?=`| \||\n)/g), ([, line = ""]) => ({ name, line })),
  );
  assert.ok(lines.length > 20, "they are found");
  for (const { name, line } of lines) {
    const args = Array.from(line.matchAll(/"([^"]*)"|\S+/g), ([word, inner]) => inner ?? word);
    if (args[0] === "--help") continue;
    const command = commandOf(commands, args);
    assert.ok(command, `${name}: ${line}`);
    assert.ok(readArguments(command, argumentsOf(command, args)), `${name}: ${line}`);
  }
});

test("the options of `petstore import` are all in docs/importing.md, and no other", () => {
  const documented = tableOf(page("docs/importing.md"), "| option").map(([cell = ""]) => quoted(cell)[0]?.split(" ")[0]);
  const { help: _, ...common } = commonOptions;
  const options = Object.keys({ ...commandOf(commands, ["import"])?.options, ...common }).map((name) => `--${name}`);
  assert.deepEqual(new Set(documented), new Set(options));
});

test("the plans' limits in the README and the specification are those that the service applies", () => {
  const rows = plans.map((plan) => {
    const { perMinute, perDay } = quotaOf({ plan, perMinute: null, perDay: null });
    const { records, publishedBytes, eventBytes } = storageLimits({ plan });
    const size = (bytes: number): string => (bytes < 1_073_741_824 ? `${bytes / 1_048_576} MiB` : `${bytes / 1_073_741_824} GiB`);
    const figures = [...[perMinute, perDay, records].map(count), size(publishedBytes), size(eventBytes)];
    return [plan, ...(plan === "enterprise" ? figures.map(() => "as agreed") : figures)];
  });
  assert.deepEqual(tableOf(page("README.md"), "| plan"), rows);
  assert.deepEqual(tableOf(page("docs/specification/4-limits.md"), "| plan"), rows);
});

test("the specification lists every error code with its status", () => {
  const listed = tableOf(page("docs/specification/1-api.md"), "| code").map(([code = "", status]) => [quoted(code)[0], Number(status)]);
  assert.deepEqual(Object.fromEntries(listed), Object.fromEntries(problemCodes.map((code) => [code, statusOf(code)])));
});

test("the limits of a deployment in the specification are those that the service applies", () => {
  const mib = (bytes: number): string => `${bytes / 1_048_576} MiB`;
  const { packedBytesMax, unpackedBytesMax, fileBytesMax, filesMax, entriesMax, pathBytesMax: allPathsMax } = archiveLimits;
  const { bytesEach, keysMax, globalsMax, globalBytesMax, bytesMax } = extensionLimits;
  const rows = tableOf(page("docs/specification/6-publishing.md"), "| limit").slice(0, -1);
  assert.deepEqual(rows, [
    ["packed, unpacked, one file", [packedBytesMax, unpackedBytesMax, fileBytesMax].map(mib).join(", ")],
    ["files", count(filesMax)],
    ["entries of the archive", `${count(entriesMax)}, with folders and what is left out`],
    [
      "extended headers",
      `for each entry at most one pax header (${keysMax} keys), one long name and one long link, each of ${bytesEach / 1024} KiB; ` +
        `${globalsMax} global pax headers, whose records take ${globalBytesMax / 1024} KiB together; all together ${mib(bytesMax)}`,
    ],
    ["path", `${count(pathBytesMax)} bytes, ${depthMax} folders deep; all paths together ${allPathsMax / 1024} KiB`],
    ["projects of an account", count(projectsMax)],
    ["time for an upload to arrive", `${seconds(requestTimeoutMs)}; one that is slower is cut off`],
  ]);
});

const figures: [page: (typeof names)[number], sentence: string][] = [
  ["README.md", `can be sent again for ${hours(keptMs)}`],
  ["docs/operating.md", `finishes the requests in flight (${seconds(stopMs)} at most)`],
  ["docs/operating.md", `at most ${readersMax + writersMax + 2} connections`],
  ["docs/operating.md", `a statement may take ${seconds(statementMs)}, and wait ${seconds(lockMs)} for a row`],
  ["docs/operating.md", `a link that works once, for ${hours(invitationMs)}`],
  ["docs/operating.md", `makes a link that works for ${minutes(linkMs)}`],
  ["docs/specification/6-publishing.md", `The last ${words[Number(settings.get("KEEP_DEPLOYMENTS"))]} deployments are kept`],
  ["docs/publishing.md", `\`EDGE_HTTP_PORT\` (${settings.get("EDGE_HTTP_PORT")})`],
  ["docs/publishing.md", `\`EDGE_HTTPS_PORT\` (${settings.get("EDGE_HTTPS_PORT")},`],
  ["docs/importing.md", `a batch of up to ${count(batchSizeMax)} animals`],
  ["docs/importing.md", `at most ${words[limitWaitsMax]} times ${minutes(limitWaitMsMax)} for a request`],
  ["docs/importing.md", `tries ${words[triesMax]} times with growing pauses`],
  ["docs/importing.md", `a row has ${count(rowCharactersMax)} characters at most, a file ${count(petsMax)} animals`],
];
for (const [name, sentence] of figures) {
  test(`${name} has the figure of the code: ${sentence}`, () => {
    const text = page(name).replaceAll(/\s+/g, " ").toLowerCase();
    assert.ok(text.includes(sentence.toLowerCase()));
  });
}

test("every link from one page to another leads to a file and a heading that exist", () => {
  const root = new URL("../", import.meta.url);
  const isPage = (path: string): boolean => path.endsWith(".md") && !path.includes("node_modules");
  const anchorOf = (heading: string): string =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .replaceAll(/\s/g, "-");
  for (const path of globSync(["*.md", "{docs,client,examples}/**/*.md"], { cwd: root }).filter(isPage)) {
    const text = readFileSync(new URL(path, root), "utf8");
    for (const [, file = "", anchor = ""] of text.matchAll(/\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)/g)) {
      const target = file === "" ? new URL(path, root) : new URL(file, new URL(path, root));
      assert.ok(existsSync(target), `${path}: ${file}`);
      const headings =
        anchor === "" ? [] : [...readFileSync(target, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading));
      assert.ok(anchor === "" || headings.includes(anchor), `${path}: ${file}#${anchor}`);
    }
  }
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runCommand } from "../../test/support/commands.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { SettingError } from "./setting.ts";
import { describeSettings, loadSettings, unknownSettings } from "./settings.ts";

const key = Buffer.alloc(32, 7).toString("base64");
/** A valid value of each secret setting, and the settings that it needs. */
const secrets: Record<string, { value: string; env?: Record<string, string> }> = {
  DATABASE_URL: { value: "postgres://shop:hush@127.0.0.1/shop", env: { SECRETS_KEY: key } },
  REDIS_URL: { value: "redis://:hush@127.0.0.1:6379" },
  ACME_EAB_HMAC: { value: "aHVzaA", env: { ACME_EAB_KID: "kid" } },
  SECRETS_KEY: { value: key },
  PETSTORE_KEY: { value: "psk_hush" },
  AWS_SECRET_ACCESS_KEY: { value: "hush-hush" },
  OTEL_EXPORTER_OTLP_HEADERS: { value: "x-token=hush" },
};

/** Writes files into a folder of the test, and returns their paths. */
function fileIn(folder: string, name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function refusalOf(env: Record<string, string>): string {
  try {
    loadSettings(env);
  } catch (error) {
    assert.ok(error instanceof SettingError, String(error));
    return error.message;
  }
  return assert.fail(`accepted: ${Object.keys(env).join(", ")}`);
}

test("every secret setting can come from a file, whose last line break is not part of it, and is shown nowhere", async (t) => {
  const folder = temporaryFolder(t);
  const marked = describeSettings({}).flatMap(({ name, meaning }) => (meaning.startsWith("File that holds ") ? [name] : []));
  for (const fileName of marked) {
    const name = fileName.slice(0, -"_FILE".length);
    const { value, env = {} } = secrets[name] ?? assert.fail(`give ${name} a value in this test`);
    for (const end of ["", "\n", "\r\n"]) {
      const path = fileIn(folder, fileName, value + end);
      assert.deepEqual(loadSettings({ ...env, [fileName]: path }), { ...loadSettings({ ...env, [name]: value }) }, fileName);
      const lines = describeSettings({ ...env, [fileName]: path });
      assert.equal(lines.find((line) => line.name === name)?.value, "(set)");
      assert.equal(lines.find((line) => line.name === fileName)?.value, path);
    }
    const path = fileIn(folder, fileName, value);
    for (const words of [["settings"], ["settings", "--json"]]) {
      const { code, out } = await runCommand(words, { ...env, [fileName]: path });
      assert.equal(code, 0);
      assert.ok(out.includes(fileName) && !out.includes(value) && !out.includes("hush"), out);
    }
  }
  assert.deepEqual(
    marked.toSorted(),
    Object.keys(secrets)
      .map((name) => `${name}_FILE`)
      .toSorted(),
  );
});

test("a file of a secret that cannot be used is refused in one line that names the setting and never the content", (t) => {
  const folder = temporaryFolder(t);
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const files: Record<string, string> = {
    absent: join(folder, "absent"),
    "a folder": folder,
    "a pipe": pipe,
    empty: fileIn(folder, "empty", ""),
    "a line end": fileIn(folder, "line", "\n"),
    huge: fileIn(folder, "huge", "hush".repeat(20_000)),
    "not text": fileIn(folder, "bytes", Uint8Array.of(0xff, 0xfe, 0x00)),
    "two line ends": fileIn(folder, "two", `${key}\n\n\nhush`),
  };
  for (const name of Object.keys(secrets)) {
    const fileName = `${name}_FILE`;
    for (const [what, path] of Object.entries(files)) {
      if (name === "PETSTORE_KEY" && what === "two line ends") continue; // any text may be a key until it is used
      const message = refusalOf({ SECRETS_KEY: name === "SECRETS_KEY" ? "" : key, [fileName]: path });
      assert.ok(message.startsWith(`${fileName}=${JSON.stringify(path)} is not allowed: it must be a file that`), `${what}: ${message}`);
      assert.doesNotMatch(message, /hush|\n/);
    }
    const { value, env = {} } = secrets[name]!;
    const both = refusalOf({ ...env, [name]: value, [fileName]: fileIn(folder, "both", value) });
    assert.match(both, new RegExp(`^${fileName}="[^"]+" is not allowed: it must be set without ${name}: use one of the two$`));
  }
});

test("settings can come from the file of ENV_FILE, and the environment takes precedence", (t) => {
  const folder = temporaryFolder(t);
  const path = fileIn(folder, "env", `# a shop\nPORT=9000\nLOG_LEVEL="warn"\nREDIS_URL=redis://:hush@127.0.0.1\n`);
  const settings = loadSettings({ ENV_FILE: path, LOG_LEVEL: "error", REDIS_URL: "" });
  assert.deepEqual([settings.port, settings.publicUrl, settings.logLevel], [9000, "http://localhost:9000", "error"]);
  assert.equal(settings.redisUrl, "redis://:hush@127.0.0.1");
  const shown = describeSettings({ ENV_FILE: path });
  assert.equal(shown.find(({ name }) => name === "PORT")?.value, "9000");
  assert.doesNotMatch(JSON.stringify(shown), /hush/);
  assert.match(
    refusalOf({ ENV_FILE: join(folder, "absent") }),
    /^ENV_FILE="[^"]+absent" is not allowed: it must be a file that can be read[^\n]*$/,
  );
  assert.match(refusalOf({ ENV_FILE: fileIn(folder, "bad", "PORT=80x\n") }), /^PORT="80x" is not allowed[^\n]*$/);
});

test("each unknown name in the file of ENV_FILE gets one line, with the setting that may be meant, and no value", async (t) => {
  const folder = temporaryFolder(t);
  const path = fileIn(folder, "env", "PROT=hush\nport=hush\nRATE=hush\nSECRETS_KEY_FILES=hush\naGFrZQo=hush\nMETRICS=off\n");
  const lines = [
    "ENV_FILE sets PROT, which is not a setting: did you mean PORT?",
    "ENV_FILE sets RATE, which is not a setting",
    "ENV_FILE sets SECRETS_KEY_FILES, which is not a setting: did you mean SECRETS_KEY_FILE?",
    "ENV_FILE sets a name, which is not a setting",
    "ENV_FILE sets port, which is not a setting: did you mean PORT?",
  ];
  assert.deepEqual(unknownSettings({ ENV_FILE: path }), lines);
  const { code, error } = await runCommand(["settings"], { ENV_FILE: path });
  assert.deepEqual([code, error], [0, lines.map((line) => `petstore: ${line}\n`).join("")]);
  const many = fileIn(folder, "many", Array.from({ length: 500 }, (_, i) => `UNKNOWN_${i}=1\n`).join(""));
  assert.deepEqual(
    [unknownSettings({ ENV_FILE: many }).length, unknownSettings({ ENV_FILE: many }).at(-1)],
    [11, "ENV_FILE sets 490 more names that are not settings"],
  );
  assert.deepEqual(unknownSettings({ PROT: "80" }), [], "the environment has names of other programs");
});

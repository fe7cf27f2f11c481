import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { temporaryFolder } from "./support/folder.ts";
import { installPackage, otherNodes, root, run } from "./support/packages.ts";
import { startService, type TestService } from "./support/service.ts";
import { ods, xlsx } from "./support/sheets.ts";

const packedBytesMax = 5 * 1_048_576;

let service: TestService;
/** An empty project, into which the packed command line is installed. */
let project: string;
before(async () => {
  const built = spawnSync(process.execPath, [join(root, "bin/build-command.mjs")], { encoding: "utf8", timeout: 120_000 });
  assert.deepEqual([built.status, built.stderr], [0, ""]);
  [service, project] = await Promise.all([startService(), installPackage("./dist/command")]);
});
after(async () => {
  await service.close();
  rmSync(project, { recursive: true });
});

test("the packed command line is small and installs no other package", () => {
  const tarball = readdirSync(project).find((name) => name.endsWith(".tgz")) ?? "";
  assert.ok(statSync(join(project, tarball)).size <= packedBytesMax);
  const names = readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."));
  assert.deepEqual(names, ["petstore"]);
});

test("it calls a running service from the pinned Node, and from an older one that the system has", async () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  mkdirSync(join(project, "site"));
  writeFileSync(join(project, "site/petstore.json"), "{}");
  writeFileSync(join(project, "site/index.html"), "<h1>Rex</h1>");
  for (const node of [process.execPath, ...otherNodes()]) {
    const env = { PETSTORE_URL: service.address, PETSTORE_KEY: service.key };
    const petstore = (...words: string[]) =>
      run(spawn(node, [join(project, "node_modules/.bin/petstore"), ...words], { cwd: project, env, timeout: 60_000 }));
    assert.equal((await petstore("--version")).out, `petstore ${version}\n`);
    assert.deepEqual((await petstore("projects", "create", "paws", "--if-not-exists", "--json")).error, "");
    const deployed = await petstore("deploy", "site", "--project", "paws");
    assert.equal(deployed.code, 0, deployed.error);
    assert.match(deployed.out, /^Deployment \d+ is live: 1 file at http/);
    assert.match((await petstore("export", "pets")).out, /^id,name,categoryId,status,category,stock,exported\n/);
    const page = `starter-${node === process.execPath ? "pinned" : "older"}`;
    const made = await petstore("init", page, "--key", `psp_${"0".repeat(36)}`);
    assert.deepEqual([made.code, made.error], [0, ""]);
    assert.match(made.out, /\n {2}petstore deploy starter-/);
    assert.ok(
      readFileSync(join(project, page, "index.html"), "utf8").includes(`<meta name="petstore-url" content="${service.address}" />`),
    );
    assert.equal((await petstore("deploy", page, "--project", "paws")).code, 0);
    const storefront = `store${page}`;
    assert.equal((await petstore("init", storefront)).code, 0);
    assert.equal((await petstore("deploy", storefront, "--project", "paws")).code, 0);
    assert.equal((await petstore("init", "other", "--account", "1")).code, 2);
    assert.deepEqual((await petstore("serve")).code, 2, "the service itself is not in the package");
    assert.equal((await petstore("projects", "list", "--key", `psk_${"0".repeat(36)}`)).code, 5);
  }
});

test("it imports files of every kind from the pinned Node, and from an older one that the system has", async (t) => {
  const folder = temporaryFolder(t);
  const row = (...texts: string[]) => `<row>${texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join("")}</row>`;
  const table = (...texts: string[]) =>
    `<table:table-row>${texts.map((text) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`).join("")}</table:table-row>`;
  const header = ["Id", "Name", "Species", "Status"];
  const rex = ["A1", "Rex", "Dog", "adopted"];
  const files: Record<string, string | Buffer> = {
    "animals.csv": `${header.join(",")}\n${rex.join(",")}\nA2,Tom,Cat,Adopted\n`,
    "animals.xlsx": xlsx({ sheets: [{ name: "Animals", rows: row(...header) + row(...rex) }], styles: "" }),
    "animals.ods": ods(`<table:table table:name="Animals">${table(...header)}${table(...rex)}</table:table>`),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const env = { PETSTORE_URL: service.address, PETSTORE_KEY: service.key };
  for (const node of [process.execPath, ...otherNodes()])
    for (const name of Object.keys(files)) {
      const words = [join(project, "node_modules/.bin/petstore"), "import", name, "--dry-run"];
      const { code, out, error } = await run(spawn(node, words, { cwd: folder, env, timeout: 60_000 }));
      assert.deepEqual([code, error], [0, ""], `${name} with ${node}`);
      assert.match(out, name === "animals.csv" ? /“adopted” \(2\) sold/ : /“adopted” \(1\) sold/);
    }
});

test("the tarball of the project itself has the command line alone, and runs it", (t) => {
  const folder = temporaryFolder(t);
  const packing = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const { status, stdout } = spawnSync("npm", packing, { cwd: root, encoding: "utf8", timeout: 60_000 });
  assert.equal(status, 0);
  const [packed] = JSON.parse(stdout) as { filename: string; size: number; version: string; files: { path: string }[] }[];
  assert.ok(packed && packed.size <= packedBytesMax);
  const paths = packed.files.map(({ path }) => path);
  assert.ok(!paths.some((path) => /^(src|test|web|node_modules)\//.test(path)), paths.join(" "));
  assert.equal(spawnSync("tar", ["-xzf", packed.filename], { cwd: folder }).status, 0);
  const petstore = (...words: string[]) =>
    spawnSync(process.execPath, ["package/bin/petstore.mjs", ...words], { cwd: folder, env: {}, encoding: "utf8", timeout: 60_000 });
  const shown = petstore("--version");
  assert.deepEqual([shown.status, shown.stdout, shown.stderr], [0, `petstore ${packed.version}\n`, ""]);
  assert.equal(petstore("init", "page", "--key", `psp_${"0".repeat(36)}`).status, 0);
  assert.ok(existsSync(join(folder, "page/index.html")));
});

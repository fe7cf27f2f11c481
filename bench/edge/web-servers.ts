import type { ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { KeyPair } from "../../src/publishing/edge/site.ts";
import { freePorts } from "../../test/support/ports.ts";
import { spawnServer, stop } from "../processes.ts";

/** A measured server. */
export type WebServer = { pid: number; httpPort: number; httpsPort: number; stop(): Promise<void> };
/** One file, served over HTTPS under each of these names with the name's certificate. */
export type Content = { fileName: string; file: Buffer; pairs: ReadonlyMap<string, KeyPair> };

type Folder = { path: string; root: string; certificates: { name: string; cert: string; key: string }[] };
type Ports = { httpPort: number; httpsPort: number };

/** Starts Caddy with default settings, but without HTTP/3. Like the edge, it writes its access log into a file. */
export async function startCaddy(path: string, content: Content): Promise<WebServer> {
  const folder = fill(path, content);
  const ports = await twoPorts();
  const configPath = join(path, "caddy.json");
  writeFileSync(configPath, JSON.stringify(caddyConfig(folder, ports)));
  const env = { ...process.env, HOME: path, XDG_DATA_HOME: path, XDG_CONFIG_HOME: path };
  return started(spawnServer(["caddy", "run", "--config", configPath], { env, stdio: "ignore" }), ports);
}

function caddyConfig({ path, root, certificates }: Folder, { httpPort, httpsPort }: Ports): object {
  const server = (port: number): object => ({
    listen: [`127.0.0.1:${port}`],
    protocols: ["h1", "h2"],
    automatic_https: { disable: true },
    routes: [{ handle: [{ handler: "file_server", root }] }],
    logs: { default_logger_name: "visits" },
  });
  const visits = { writer: { output: "file", filename: join(path, "caddy.log") }, include: ["http.log.access.visits"] };
  return {
    admin: { disabled: true },
    logging: { logs: { default: { level: "ERROR" }, visits } },
    apps: {
      http: { servers: { plain: server(httpPort), secure: { ...server(httpsPort), tls_connection_policies: [{}] } } },
      tls: { certificates: { load_files: certificates.map(({ cert, key }) => ({ certificate: cert, key })) } },
    },
  };
}

/** Starts nginx with one process, which writes its access log into a file. */
export async function startNginx(path: string, content: Content): Promise<WebServer> {
  const { root, certificates } = fill(path, content);
  const ports = await twoPorts();
  const { httpPort, httpsPort } = ports;
  const configPath = join(path, "nginx.conf");
  const secure = certificates.map(
    ({ name, cert, key }) =>
      `server { listen 127.0.0.1:${httpsPort} ssl http2; server_name ${name}; root ${root}; ssl_certificate ${cert}; ssl_certificate_key ${key}; }`,
  );
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${path};`);
  writeFileSync(
    configPath,
    `daemon off; master_process off; pid ${path}/nginx.pid; error_log stderr crit;
    events { worker_connections 4096; }
    http {
      access_log ${path}/nginx.log; sendfile on; keepalive_requests 1000000000; server_names_hash_max_size 8192; ${temporary.join(" ")}
      server { listen 127.0.0.1:${httpPort}; root ${root}; }
      ${secure.join("\n")}
    }`,
  );
  return started(spawnServer(["nginx", "-p", path, "-c", configPath], { stdio: "ignore" }), ports);
}

function fill(path: string, { fileName, file, pairs }: Content): Folder {
  const root = join(path, "site");
  mkdirSync(root);
  writeFileSync(join(root, fileName), file);
  const certificates = Array.from(pairs, ([name, pair]) => {
    const [cert, key] = [join(path, `${name}.pem`), join(path, `${name}.key`)];
    writeFileSync(cert, pair.cert);
    writeFileSync(key, pair.key);
    return { name, cert, key };
  });
  return { path, root, certificates };
}

async function twoPorts(): Promise<Ports> {
  const [httpPort = 0, httpsPort = 0] = await freePorts(2);
  return { httpPort, httpsPort };
}

async function started(child: ChildProcess, ports: Ports): Promise<WebServer> {
  for (let tries = 0; child.exitCode === null && tries < 400; tries++) {
    const isOpen = await fetch(`http://127.0.0.1:${ports.httpPort}/`).then(
      () => true,
      () => false,
    );
    if (isOpen) return { pid: child.pid ?? 0, ...ports, stop: () => stop(child) };
    await sleep(50);
  }
  await stop(child);
  throw new Error(`a server did not start: ${child.spawnargs.join(" ")}`);
}

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./folder.ts";
import { freePorts } from "./ports.ts";
import type { Ending } from "./process.ts";
import { throwAwayCertificate } from "./test-edge.ts";
import { until } from "./until.ts";

/**
 * A configuration of `deploy/` for this machine: its listeners get free ports of 127.0.0.1, in order, and each node is here.
 *
 * @param nodePorts other ports of the nodes, by those of the recipe
 */
export async function localConfiguration(text: string, folder: string, nodePorts: Record<number, number> = {}) {
  const { cert, key } = throwAwayCertificate("pets.example.com");
  writeFileSync(join(folder, "fullchain.pem"), cert);
  writeFileSync(join(folder, "privkey.pem"), key);
  const ports: number[] = [];
  const free = await freePorts(8);
  const listen = (): string => {
    const port = free.pop() ?? 0;
    ports.push(port);
    return `listen 127.0.0.1:${port}`;
  };
  const local = text
    .replaceAll(/listen (?:[\d.]+:)?\d+/g, listen)
    .replaceAll(/node-[12]:(\d+)/g, (_, port: string) => `127.0.0.1:${nodePorts[Number(port)] ?? port}`)
    .replaceAll("/etc/ssl/petstore", folder)
    .replace(/pid [^;]+;/, `pid ${folder}/nginx.pid;`)
    .replace("events {", `error_log stderr;\nevents {`)
    .replace("http {", ["http {", ...temporaryPaths.map((name) => `  ${name}_temp_path ${folder}/${name};`)].join("\n"));
  return { text: local, ports };
}

const temporaryPaths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

/** Starts nginx with a configuration of `deploy/`. Returns the ports of its listeners, in order. */
export async function startNginx(t: Ending, nginx: string, text: string, nodePorts: Record<number, number>): Promise<number[]> {
  const folder = temporaryFolder(t);
  const { text: local, ports } = await localConfiguration(text, folder, nodePorts);
  const file = join(folder, "nginx.conf");
  writeFileSync(file, `daemon off;\nmaster_process off;\n${local}`);
  const child = spawn(nginx, ["-e", "stderr", "-c", file], { stdio: "ignore" });
  t.after(() => child.kill("SIGKILL"));
  await until(async () => (await fetch(`http://127.0.0.1:${ports[0]}/healthz`).catch(() => undefined))?.ok === true);
  return ports;
}

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { get } from "node:https";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePorts } from "./ports.ts";
import { until } from "./until.ts";

export type PebbleSettings = {
  /** `127.0.0.1:port` of the DNS server that names are checked with. */
  dns: string;
  /** The ports that the authority uses for http-01 and tls-alpn-01, in place of 80 and 443. */
  httpPort: number;
  tlsPort: number;
  /** Percentage of valid nonces that Pebble refuses. Default: 5, as Pebble's own. */
  nonceRejectPercent?: number;
  certificateSeconds?: number;
  /** Base64url HMAC keys by key id. If set, an account needs an external binding. */
  externalAccounts?: Record<string, string>;
};

export type Pebble = {
  directoryUrl: string;
  /** The authority of Pebble's own HTTPS certificate, as PEM and as a file. */
  ca: string;
  caFile: string;
  /** Certificate and key (PEM) for `localhost` and 127.0.0.1 from that authority, for servers in front of Pebble. */
  tls: { cert: string; key: string };
  /** The root of the certificates that Pebble issues; a new one at each start. */
  root(): Promise<string>;
  stop(): Promise<void>;
  /** Lets this process end while Pebble runs, which ends with it. */
  unref(): void;
};

/** Starts the Pebble test authority on free loopback ports. `stop` discards its state. */
export async function startPebble(settings: PebbleSettings): Promise<Pebble> {
  const folder = await mkdtemp(join(tmpdir(), "pebble-"));
  certificates ??= makeCertificates();
  const tls = await certificates;
  const files = { "ca.pem": tls.ca, "leaf.pem": tls.cert, "leaf.key": tls.key };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const [port, managementPort] = await freePorts(2);
  await writeFile(join(folder, "config.json"), JSON.stringify(configuration(folder, settings, port!, managementPort!)));
  const pebble = spawn("pebble", ["-config", join(folder, "config.json"), "-dnsserver", settings.dns, "-strict"], {
    env: {
      ...process.env,
      PEBBLE_VA_NOSLEEP: "1",
      PEBBLE_AUTHZREUSE: "0",
      PEBBLE_WFE_NONCEREJECT: String(settings.nonceRejectPercent ?? 5),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  await untilListening(pebble);
  for (const one of [port!, managementPort!]) await untilAccepting(one);
  return {
    directoryUrl: `https://localhost:${port}/dir`,
    ca: tls.ca,
    caFile: join(folder, "ca.pem"),
    tls,
    root: () => read(`https://localhost:${managementPort}/roots/0`, tls.ca),
    unref() {
      pebble.unref();
      for (const pipe of [pebble.stdout, pebble.stderr]) (pipe as Socket).unref();
      process.once("exit", () => {
        pebble.kill("SIGKILL");
        rmSync(folder, { recursive: true, force: true });
      });
    },
    async stop() {
      const ended = new Promise((done) => pebble.once("exit", done));
      if (pebble.exitCode === null && pebble.kill("SIGKILL")) await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configuration(folder: string, settings: PebbleSettings, port: number, managementPort: number): object {
  return {
    pebble: {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${managementPort}`,
      certificate: join(folder, "leaf.pem"),
      privateKey: join(folder, "leaf.key"),
      httpPort: settings.httpPort,
      tlsPort: settings.tlsPort,
      ocspResponderURL: "",
      externalAccountBindingRequired: settings.externalAccounts !== undefined,
      externalAccountMACKeys: settings.externalAccounts ?? {},
      ...(settings.certificateSeconds === undefined ? {} : { certificateValidityPeriod: settings.certificateSeconds }),
    },
  };
}

let certificates: Promise<Pebble["tls"] & { ca: string }> | undefined;

/** Makes certificates with openssl, so that tests do not depend on the product's own code for certificates. */
async function makeCertificates(): Promise<Pebble["tls"] & { ca: string }> {
  const folder = await mkdtemp(join(tmpdir(), "pebble-certificates-"));
  const openssl = (...words: string[]) => promisify(execFile)("openssl", words, { cwd: folder });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"];
  await openssl("req", "-x509", ...newKey, "-subj", "/CN=Test CA", "-keyout", "ca.key", "-out", "ca.pem");
  const names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"];
  await openssl(
    "req",
    "-x509",
    ...newKey,
    "-subj",
    "/CN=localhost",
    ...names,
    "-CA",
    "ca.pem",
    "-CAkey",
    "ca.key",
    "-keyout",
    "leaf.key",
    "-out",
    "leaf.pem",
  );
  const [ca, cert, key] = await Promise.all(["ca.pem", "leaf.pem", "leaf.key"].map((name) => readFile(join(folder, name), "utf8")));
  await rm(folder, { recursive: true });
  return { ca: ca!, cert: cert!, key: key! };
}

/** Waits until a port accepts connections: Pebble prints its directory just before it listens. */
async function untilAccepting(port: number): Promise<void> {
  await until(
    () =>
      new Promise((done) => {
        const socket = connect(port, "127.0.0.1", () => done(true)).on("error", () => done(false));
        socket.on("connect", () => socket.destroy());
      }),
  );
}

/** Waits until Pebble prints its directory. If Pebble exits before that, its output is the error. */
function untilListening(pebble: ChildProcess): Promise<void> {
  return new Promise((listening, failed) => {
    let said = "";
    const hear = (chunk: Buffer): void => {
      if (said.length < 10_000) said += chunk.toString();
      if (said.includes("ACME directory available")) listening();
    };
    pebble.stdout?.on("data", hear);
    pebble.stderr?.on("data", hear);
    pebble.once("error", failed);
    pebble.once("exit", () => failed(new Error(`pebble did not start: ${said}`)));
  });
}

function read(url: string, ca: string): Promise<string> {
  return new Promise((done, failed) => {
    get(url, { ca }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => done(text));
    }).on("error", failed);
  });
}

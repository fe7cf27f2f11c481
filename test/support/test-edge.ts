import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { openBounds } from "../../src/platform/bounds.ts";
import { openEdge, type Edge, type EdgeOptions } from "../../src/publishing/edge/edge.ts";
import type { Encoding, KeyPair, PublishedFile, Site } from "../../src/publishing/edge/site.ts";

/** A self-signed P-256 certificate for some names, made without any tool: X.509 in the few lines that a test needs. */
export function throwAwayCertificate(...names: string[]): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ecdsaSha256 = der(0x30, Buffer.from("06082a8648ce3d040302", "hex"));
  const commonName = der(0x30, der(0x31, der(0x30, Buffer.from("0603550403", "hex"), der(0x0c, Buffer.from(names[0]!.slice(0, 60))))));
  const validity = der(0x30, der(0x18, Buffer.from("20200101000000Z")), der(0x18, Buffer.from("20991231235959Z")));
  const alternatives = der(0x30, ...names.map((name) => der(0x82, Buffer.from(name))));
  const extension = der(0x30, Buffer.from("0603551d11", "hex"), der(0x04, alternatives));
  const toBeSigned = der(
    0x30,
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ecdsaSha256,
    commonName,
    validity,
    commonName,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, der(0x30, extension)),
  );
  const signature = der(0x03, Buffer.of(0), sign("sha256", toBeSigned, privateKey));
  const certificate = der(0x30, toBeSigned, ecdsaSha256, signature).toString("base64");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.match(/.{1,64}/g)!.join("\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }),
  };
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  if (content.length < 0x80) return Buffer.concat([Buffer.of(tag, content.length), content]);
  // the shortest form of a length: Go refuses any other
  if (content.length < 0x100) return Buffer.concat([Buffer.of(tag, 0x81, content.length), content]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(content.length);
  return Buffer.concat([Buffer.of(tag, 0x82), length, content]);
}

export type TestEdge = Edge & {
  sites: Map<string, Site>;
  certificates: Map<string, KeyPair>;
  authorizations: Map<string, string>;
  alpnCertificates: Map<string, KeyPair>;
  hstsSeconds: Map<string, number>;
  /** What was logged. */
  lines: object[];
  /** How often each certificate was loaded. */
  loads: string[];
  now: { ms: number };
  folder: string;
  publish(host: string, files: Record<string, string | Buffer>): Promise<void>;
};

const encoders: Record<Encoding, (body: Buffer) => Buffer> = { br: (body) => brotliCompressSync(body), gzip: (body) => gzipSync(body) };
const types: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  bin: "application/octet-stream",
};

/** An edge on two free ports. Its sites, certificates and challenges are in maps, which a test may change while it runs. */
export async function openTestEdge(options: Partial<EdgeOptions> = {}): Promise<TestEdge> {
  const folder = await mkdtemp(join(tmpdir(), "edge-"));
  const sites = new Map<string, Site>();
  const certificates = new Map<string, KeyPair>();
  const authorizations = new Map<string, string>();
  const alpnCertificates = new Map<string, KeyPair>();
  const hstsSeconds = new Map<string, number>();
  const lines: object[] = [];
  const loads: string[] = [];
  const now = { ms: Date.UTC(2026, 3, 1) };
  const contentPath = (hash: string, encoding?: Encoding): string => join(folder, encoding === undefined ? hash : `${hash}.${encoding}`);
  const note = (fields: object): number => lines.push(fields);
  const edge = await openEdge({
    http: { host: "127.0.0.1", port: 0 },
    https: { host: "127.0.0.1", port: 0 },
    hosts: {
      sites,
      certificates: {
        current: (host) => certificates.get(host)?.cert,
        load: async (id) => (loads.push(id), certificates.values().find(({ cert }) => cert === id)),
      },
      challenges: { http: (host, token) => authorizations.get(`${host}/${token}`), tlsAlpn: (host) => alpnCertificates.get(host) },
      hstsSeconds: (host) => hstsSeconds.get(host),
    },
    platformDomain: "petstore.localhost",
    openContent: (hash, encoding) => open(contentPath(hash, encoding)),
    bounds: openBounds(),
    log: { warn: note, error: note },
    clock: () => now.ms,
    ...options,
  });

  async function publish(host: string, files: Record<string, string | Buffer>): Promise<void> {
    const manifest = new Map<string, PublishedFile>();
    for (const [path, content] of Object.entries(files)) {
      const body = Buffer.from(content);
      const hash = createHash("sha256").update(body).digest("hex");
      const type = types[path.slice(path.lastIndexOf(".") + 1)] ?? "text/plain; charset=utf-8";
      const encodings: PublishedFile["encodings"] = {};
      await writeFile(contentPath(hash), body);
      for (const encoding of ["br", "gzip"] as const) {
        if (path.endsWith(".bin")) continue;
        const encoded = encoders[encoding](body);
        if (encoded.length >= body.length) continue;
        encodings[encoding] = encoded.length;
        await writeFile(contentPath(hash, encoding), encoded);
      }
      manifest.set(path, { hash, size: body.length, type, encodings });
    }
    sites.set(host, { status: "live", manifest });
  }

  async function close(graceMs?: number): Promise<void> {
    await edge.close(graceMs);
    await rm(folder, { recursive: true, force: true });
  }

  return { ...edge, close, sites, certificates, authorizations, alpnCertificates, hstsSeconds, lines, loads, now, folder, publish };
}

export type Reply = { status: number; headers: IncomingHttpHeaders; body: Buffer };

/** Sends a request over HTTP/1.1 with this Host, and over TLS with the same name as SNI. The path is sent as it is. */
export async function fetchFrom(
  { addresses }: Edge,
  host: string,
  path: string,
  { method = "GET", headers = {}, tls, body }: { method?: string; headers?: OutgoingHttpHeaders; tls?: RequestOptions; body?: string } = {},
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const port = tls === undefined ? addresses.http.port : addresses.https?.port;
  const options = { host: "127.0.0.1", port, path, method, headers: { host, ...headers }, agent: false, servername: host, ...tls };
  const request = tls === undefined ? httpRequest(options, resolve) : httpsRequest(options, resolve);
  request.on("error", reject).end(body);
  const response = await promise;
  const bytes = Buffer.concat((await Array.fromAsync(response)) as Buffer[]);
  return { status: response.statusCode ?? 0, headers: response.headers, body: bytes };
}

/** Waits until a connection is closed, cleanly or not. */
export async function closed(socket: Socket): Promise<void> {
  if (socket.closed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  socket
    .on("error", () => undefined)
    .on("close", () => resolve())
    .resume();
  await promise;
}

/** Sends bytes as they are and reads until the other side closes. */
export async function exchangeRaw(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const received: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => received.push(chunk));
  socket.write(bytes);
  await closed(socket);
  return Buffer.concat(received).toString("latin1");
}

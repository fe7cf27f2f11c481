import type { Random } from "./random.ts";
import { hostileJson, hostileLine, hostileText } from "./values.ts";

/** A target of requests: an operation, or a page outside the API. */
export type Target = {
  name: string;
  listener: "api" | "edge";
  method: string;
  /** The path that is sent, with `{…}` in place of identifiers. */
  path: string;
  queryNames: string[];
  sample: unknown;
  mediaType: string;
  bodyBytesMax: number;
  /** Header lines that a valid request needs. */
  headers: [name: string, value: string][];
};

export type HostileRequest = {
  target: Target;
  method: string;
  url: string;
  headers: [name: string, value: string][];
  body: Buffer | undefined;
  /** The bytes in each chunk of the body; undefined if the request has a Content-Length instead. */
  chunkBytes: number | undefined;
};

/** All headers together may have 16 KiB, which leaves about this much for a long one. */
const headerBytesMax = 14_000;
const urlBytesMax = 14_000;
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "TRACE"];

/** Makes a request that should be costly: to one of the targets, with one to three attacks. */
export function hostileRequest(random: Random, targets: readonly Target[]): HostileRequest {
  const target = random.pick(targets);
  const hasBody = target.method !== "GET" && target.method !== "DELETE" && target.sample !== undefined;
  const request: HostileRequest = {
    target,
    method: target.method,
    url: target.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => identifier(random, name, target.method)),
    headers: [...target.headers, ...(hasBody ? [["Content-Type", target.mediaType] as [string, string]] : [])],
    body: hasBody ? Buffer.from(JSON.stringify(target.sample)) : undefined,
    chunkBytes: undefined,
  };
  const attacks = hasBody ? [...anyAttacks, ...bodyAttacks, ...bodyAttacks] : anyAttacks;
  const count = 1 + random.below(3);
  for (let i = 0; i < count; i++) random.pick(attacks)(request, random);
  return request;
}

type Attack = (request: HostileRequest, random: Random) => void;

const anyAttacks: Attack[] = [
  (request, random) =>
    void (request.url = request.url.replace(/[^/]*$/, "") + encodeURI(hostileText(random, sizeOf(random, urlBytesMax / 3)).toWellFormed())),
  (request, random) => void (request.url += random.pick(["/", "//", "/../", "/%2e%2e/", "/a"]).repeat(random.pick([1, 100, 2_000]))),
  addParameters,
  addParameters,
  addParameters,
  (request, random) => void request.headers.push([random.pick(headerNames), hostileLine(random, sizeOf(random, headerBytesMax))]),
  (request, random) => void request.headers.push([random.pick(headerNames), hostileLine(random, sizeOf(random, headerBytesMax))]),
  (request, random) => void request.headers.push(random.pick(listHeaders)(random, sizeOf(random, headerBytesMax))),
  (request, random) => void request.headers.push(random.pick(listHeaders)(random, sizeOf(random, headerBytesMax))),
  (request, random) => {
    const name = random.pick(["a", "Cookie", "Accept", "X-Forwarded-For", "If-None-Match"]);
    for (let i = random.pick([10, 100, 1_000]); i > 0; i--) request.headers.push([name, "a"]);
  },
  (request, random) => void (request.method = random.pick(methods)),
];

const bodyAttacks: Attack[] = [
  (request, random) =>
    void (request.body = Buffer.from(hostileJson(random, sizeOf(random, request.target.bodyBytesMax - 200), request.target.sample))),
  (request, random) => void (request.body = Buffer.from(hostileJson(random, request.target.bodyBytesMax - 200, request.target.sample))),
  (request, random) =>
    void (request.body = Buffer.alloc(request.target.bodyBytesMax + random.below(100_000), random.pick([" ", "[", "\xff", "a"]), "latin1")),
  (request, random) => void (request.chunkBytes = random.pick([1, 7, 1_000])),
];

const headerNames =
  "Accept Accept-Encoding Accept-Language Authorization X-API-Key Content-Type Cookie Expect Forwarded Host Idempotency-Key If-Match If-None-Match If-Modified-Since If-Range Origin Prefer Range Referer Sec-Fetch-Site traceparent Transfer-Encoding User-Agent X-Forwarded-For X-Forwarded-Proto X-Request-Id".split(
    " ",
  );

const listHeaders: ((random: Random, bytes: number) => [string, string])[] = [
  (random, bytes) => [
    "Accept",
    times(random.pick(["a/b,", "a/b;q=0.5,", "*/*;q=0,", "application/*;q=0.1;a=b,", ";", 'text/html;a="b",']), bytes),
  ],
  (random, bytes) => ["Accept-Encoding", times(random.pick(["gzip;q=0,", "a,", "br;q=0.0001,", "a ;", "*;q=0,"]), bytes)],
  (random, bytes) => [
    random.pick(["If-None-Match", "If-Match"]),
    times(random.pick(['"v1",', 'W/"v1",', '"', '"a" ', ",", '"a", ']), bytes),
  ],
  (random, bytes) => ["Range", `bytes=${times(random.pick(["0-0,", "-1,", "0-,", "1-2,5-6,", "9999999999-"]), bytes)}`],
  (random, bytes) => [
    "Cookie",
    times(random.pick(["petstore-session=a; ", "a=b; ", "__Host-petstore-session=a;", ";", "a; ", "="]), bytes),
  ],
  (random, bytes) => [
    "X-Forwarded-For",
    times(random.pick(["127.0.0.1, ", "::1,", "a, ", "127.0.0.1:80,", "[::1]:80,", "::ffff:127.0.0.1,"]), bytes),
  ],
  (random, bytes) => [
    "Content-Type",
    `application/json;${times(random.pick(["a=b;", " ", "charset=utf-8;", ";", 'a="b";', 'a="']), bytes)}`,
  ],
  (random, bytes) => ["Authorization", `Bearer ${times(random.pick([" ", "a", "psk_a", "Bearer "]), bytes)}`],
  (random, bytes) => ["Prefer", times(random.pick(["dry-run,", "a=b;c=d,", " ,"]), bytes)],
];

const parameterNames = "limit cursor id status petId categoryId q sort name complete after wait types __proto__ a".split(" ");

function addParameters(request: HostileRequest, random: Random): void {
  const names = random.chance(0.7) && request.target.queryNames.length > 0 ? request.target.queryNames : parameterNames;
  const parameters: string[] = [];
  const room = sizeOf(random, urlBytesMax);
  const isOne = random.chance(0.5);
  const one = random.pick(names);
  for (let bytes = 0; bytes < room && parameters.length < 5_000;) {
    const parameter = `${isOne ? one : random.pick(names)}=${parameterValue(random, isOne && random.chance(0.3) ? room / 3 : 30)}`;
    parameters.push(parameter);
    bytes += parameter.length + 1;
  }
  request.url += (request.url.includes("?") ? "&" : "?") + parameters.join("&");
}

function parameterValue(random: Random, bytes: number): string {
  const isPlain = random.chance(0.5);
  if (isPlain) return random.pick(["1", "100", "sold", "available", "name", "-name", "true", "9".repeat(bytes), "%", "%00", "+", ""]);
  const text = hostileText(random, bytes).toWellFormed();
  if (random.chance(0.3)) return Buffer.from(JSON.stringify(["x".repeat(6), text, 1])).toString("base64url");
  return encodeURIComponent(text);
}

/** Mostly an identifier that exists, but not for DELETE, which would delete what later requests need. */
function identifier(random: Random, name: string, method: string): string {
  if (random.chance(0.1)) return random.pick(["9".repeat(19), "9".repeat(5_000), "%31", "a", "-1", "0"]);
  if (name === "hostname") return random.chance(0.5) ? "www.shop.example" : `${"a.".repeat(random.pick([10, 500]))}example`;
  return method === "DELETE" ? "987654321" : "1";
}

function sizeOf(random: Random, bytesMax: number): number {
  return Math.floor(random.pick([20, 300, 2_000, bytesMax / 2, bytesMax]));
}

function times(piece: string, bytes: number): string {
  return piece.repeat(Math.max(1, Math.floor(bytes / piece.length)));
}

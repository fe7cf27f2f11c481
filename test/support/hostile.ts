import assert from "node:assert/strict";
import fc from "fast-check";
import { anyText } from "./any-text.ts";
import type { Operation } from "./description.ts";
import * as hostile from "./hostile-values.ts";

/** Any request: the path after `/v1`, header lines, and bytes. */
export type HostileRequest = { target: string; headers: [name: string, value: string][]; body: Buffer | undefined; chunked: boolean };

/** The parts of a valid request: a key, values of the parameters of paths, and a file for each content type of uploads. */
export type Known = { key: string; values: Record<string, (number | string)[]>; files: Record<string, Buffer> };

/** Any request to an operation; most have a valid key and path, and many a valid or nearly valid body. */
export function hostileRequest(operation: Operation, known: Known): fc.Arbitrary<HostileRequest> {
  return fc.record({
    target: fc.tuple(pathOf(operation, known), queryOf(operation)).map(([path, query]) => wireSafe(path + query)),
    headers: fc
      .tuple(
        credentials(known.key),
        fc.array(header, { maxLength: 2 }),
        contentType(operation),
        rarely(constants(hostile.accepts).map(named("Accept"))),
      )
      .map(([credential, some, type, accept]) =>
        [...credential, ...some, ...type, ...accept].map(([name, value]) => [name, wireSafe(value)] as [string, string]),
      ),
    body: operation.requestBody ? often(uploaded(operation) ? fileOf(operation, known) : bodyOf(operation, known)) : fc.constant(undefined),
    chunked: fc.boolean(),
  });
}

function pathOf({ path }: Operation, known: Known): fc.Arbitrary<string> {
  const ids = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => {
    assert.ok(known.values[name]?.length, `no value of ${name} is known`);
    const own = constants(known.values[name].map(String));
    return fc.oneof({ weight: 12, arbitrary: own }, { weight: 4, arbitrary: constants(hostile.pathIds) }, anyText());
  });
  return fc.tuple(...ids).map((texts) => texts.reduce((whole, text) => whole.replace(/\{\w+\}/, () => text), path));
}

function queryOf({ parameters }: Operation): fc.Arbitrary<string> {
  const known = parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
  const name = fc.oneof({ weight: 5, arbitrary: constants([...known, "limit"]) }, { weight: 1, arbitrary: constants(hostile.queryNames) });
  const value = fc.oneof(
    { weight: 5, arbitrary: constants(hostile.queryValues) },
    anyText().map((text) => encodeURIComponent(text.toWellFormed())),
  );
  const pair = fc.tuple(name, value).map((both) => both.join("="));
  const some = fc.array(pair, { minLength: 1, maxLength: 4 }).map((pairs) => `?${pairs.join("&")}`);
  return fc.oneof(
    { weight: known.length > 0 ? 1 : 40, arbitrary: fc.constant("") },
    { weight: 3, arbitrary: some },
    constants(["?", "?&&=", "??", "?#", "?%"]),
  );
}

function credentials(key: string): fc.Arbitrary<[string, string][]> {
  const good = fc.constantFrom<[string, string][]>(
    [["Authorization", `Bearer ${key}`]],
    [["X-API-Key", key]],
    [["authorization", `bEARER  ${key} `]],
  );
  const bad = fc.oneof(
    constants(hostile.credentials).map(named("Authorization")),
    constants([...hostile.credentials, key.slice(0, -1)]).map(named("X-API-Key")),
  );
  return fc.oneof(
    { weight: 9, arbitrary: good },
    { weight: 2, arbitrary: bad },
    fc.constant<[string, string][]>([]),
    fc.tuple(good, bad).map(([a, b]) => [...b, ...a]),
  );
}

const header = fc.tuple(
  constants(hostile.headerNames),
  fc.oneof(constants(hostile.headerValues), fc.string({ unit: "grapheme-ascii", maxLength: 40 })),
);

function contentType({ requestBody }: Operation): fc.Arbitrary<[string, string][]> {
  const right = constants(Object.keys(requestBody?.content ?? { "application/json": 0 }));
  return fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: constants(hostile.contentTypes) }).map(named("Content-Type"));
}

/** The content type of the file that an operation takes; undefined if it takes none. */
function uploaded({ requestBody }: Operation): string | undefined {
  return Object.entries(requestBody?.content ?? {}).find(([, { schema }]) => schema?.format === "binary")?.[0];
}

/** The file as it should be, cut off, with a byte changed, or anything else. */
function fileOf(operation: Operation, { files }: Known): fc.Arbitrary<Buffer> {
  const file = files[operation.operationId];
  assert.ok(file, `no file for ${operation.operationId} is known`);
  const place = fc.nat({ max: file.length - 1 });
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant(file) },
    { weight: 4, arbitrary: place.map((end) => file.subarray(0, end)) },
    { weight: 8, arbitrary: fc.tuple(place, fc.nat({ max: 255 })).map(([at, byte]) => Buffer.from(file).fill(byte, at, at + 1)) },
    constants(hostile.byteTexts),
    fc.uint8Array({ maxLength: 50 }).map((list) => Buffer.from(list)),
  );
}

function bodyOf(operation: Operation, known: Known): fc.Arbitrary<Buffer> {
  const [media] = Object.values(operation.requestBody?.content ?? {});
  const example = media?.example;
  const [sample] = [example].flat() as Record<string, unknown>[];
  const ownIds = { petId: known.values["petId"]?.[0], categoryId: known.values["categoryId"]?.[0] };
  const right = Object.entries(sample ?? {}).map(([name, member]) => [name, JSON.stringify({ [name]: member, ...ownIds }[name])] as const);

  const json = fc.oneof(
    { weight: 6, arbitrary: constants(hostile.jsonValues) },
    fc.json(),
    anyText().map((text) => JSON.stringify(text)),
  );
  const member = fc.tuple(fc.oneof({ weight: 6, arbitrary: constants(right.map(([name]) => name)) }, constants(hostile.memberNames)), json);
  const members = fc.tuple(fc.subarray(right, { minLength: 1 }), fc.oneof(fc.constant([]), fc.array(member, { maxLength: 2 })));
  const object = members.map(([kept, more]) => `{${[...kept, ...more].map(([name, text]) => `"${name}":${text}`).join(",")}}`);
  const shaped = Array.isArray(example) ? fc.array(object, { maxLength: 4 }).map((items) => `[${items.join(",")}]`) : object;
  const text = fc.oneof(
    { weight: 12, arbitrary: shaped },
    { weight: 2, arbitrary: constants(hostile.texts) },
    { weight: 1, arbitrary: json },
  );
  const raw = fc.oneof(
    constants(hostile.byteTexts),
    fc.uint8Array({ maxLength: 50 }).map((list) => Buffer.from(list)),
  );
  return fc.oneof({ weight: 16, arbitrary: text.map((whole) => Buffer.from(whole)) }, { weight: 1, arbitrary: raw });
}

function constants<T>(values: T[]): fc.Arbitrary<T> {
  return fc.constantFrom(...values);
}

function named(name: string): (value: string) => [string, string][] {
  return (value) => [[name, value]];
}

function rarely<T>(arbitrary: fc.Arbitrary<T[]>): fc.Arbitrary<T[]> {
  return fc.oneof({ weight: 5, arbitrary: fc.constant<T[]>([]) }, { weight: 1, arbitrary });
}

function often<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(arbitrary, { nil: undefined, freq: 20 });
}

/** Cursors made of a real one: its position replaced under its own fingerprint, its text changed, or none of it left. */
export function hostileCursor(real: string): fc.Arbitrary<string> {
  const [fingerprint, ...position] = JSON.parse(Buffer.from(real, "base64url").toString()) as unknown[];
  const encoded = (json: string): string => Buffer.from(json).toString("base64url");
  const value = fc.oneof(constants(hostile.jsonValues), fc.json(), constants(position.map((member) => JSON.stringify(member))));
  const moved = fc.array(value, { maxLength: 3 }).map((values) => encoded(`[${[JSON.stringify(fingerprint), ...values].join(",")}]`));
  const changed = fc
    .tuple(fc.nat(real.length), fc.string({ maxLength: 2 }), fc.nat(3))
    .map(([at, text, cut]) => real.slice(0, at) + text + real.slice(at + cut));
  return fc.oneof({ weight: 5, arbitrary: moved }, changed, fc.base64String(), fc.json().map(encoded), fc.constant(real), anyText());
}

/** Leaves out characters that would end the line and so begin another header or request: wire.test.ts tests those. */
function wireSafe(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, "");
}

/** The bytes of a request on HTTP/1.1, on a connection that ends with it. */
export function bytesOf(method: string, { target, headers, body, chunked }: HostileRequest): Buffer {
  const lines = headers.map(([name, value]) => Buffer.from(`${name}: ${value}\r\n`, "latin1"));
  const start = Buffer.from(`${method} /v1${target.replaceAll(" ", "%20")} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`);
  if (!body) return Buffer.concat([start, ...lines, Buffer.from("\r\n")]);
  if (!chunked) return Buffer.concat([start, ...lines, Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
  const chunk = body.length > 0 ? [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n")] : [];
  return Buffer.concat([start, ...lines, Buffer.from("Transfer-Encoding: chunked\r\n\r\n"), ...chunk, Buffer.from("0\r\n\r\n")]);
}

import fc from "fast-check";
import type { Operation } from "./description.ts";

/** A request of which nothing is promised: what follows `/v1`, header lines, and bytes. */
export type HostileRequest = { target: string; headers: [name: string, value: string][]; body: Buffer | undefined; chunked: boolean };

/** JSON texts that are no value of our schemas, or only just. */
const tokens = [
  ...["null", "true", "0", "-0", "1", "2", "-1", "1.5", "1e2", "1e400", "-1e400", "1e-400", "2147483647", "2147483648"],
  ...["9007199254740991", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1".repeat(400)],
  ...[
    '""',
    '" "',
    '"\\u0000"',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"Rex"',
    '"available"',
    '"SOLD"',
    '"1"',
    '"\u202e\ufeff"',
    '"%00"',
    '"\\u00e9"',
  ],
  ...['"2026-12-24T10:00:00Z"', '"2026-02-30T10:00:00Z"', '"0000-01-01T00:00:00+23:59"', '"9999-12-31T23:59:60-23:59"', '"now"'],
  ...["[]", "{}", "[[]]", '[{"name":"Rex","categoryId":1}]', '{"__proto__":{"name":"Rex"}}', '{"toString":1}', '{"$ref":"#"}'],
  ...[`"${"x".repeat(201)}"`, `"${"🐕".repeat(200)}"`, `"${"ﷺ".repeat(200)}"`, nested("[", "]", 5_000), nested('{"a":', "}", 5_000)],
];
const keys = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "",
  "id",
  "name ",
  "NAME",
  "\\u0000",
  "a/b~c",
  "$ref",
  "é",
];
const texts = [
  ...[
    "",
    " ",
    "\t\n",
    "{",
    "}",
    "[",
    '"',
    "nul",
    "undefined",
    "NaN",
    "{]}",
    "{'name':'Rex'}",
    '{"name":"Rex",}',
    "// no",
    "\ufeff{}",
    "\u0000",
    "{}{}",
    "1 2",
  ],
  ...[nested("[", "]", 200_000), nested('{"a":', "}", 100_000), "[".repeat(1_000_000), `{"name":"${"x".repeat(1_048_576)}"}`],
  ...[`[${'{"name":"Rex","categoryId":1},'.repeat(1_000)}{"name":"Rex","categoryId":1}]`, `${nested("[", "]", 50_000)}9223372036854775807`],
];
const bytes = [
  [0xff, 0xfe],
  [0xc0, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0x22, 0xe2, 0x82, 0x22],
  [0x1f, 0x8b, 8, 0],
];

const ids = [
  ...[
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "3",
    "01",
    "+1",
    "1e3",
    "1.0",
    "0x1",
    "1n",
    " 1",
    "%201",
    "%31",
    "%30%31",
    "1%00",
    "1%0a",
    "batch",
    "*",
    ".",
  ],
  ...["9007199254740991", "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808"],
  ...["-9223372036854775809", "9".repeat(100), "9".repeat(20_000), "null", "NaN", "Infinity", "__proto__", "constructor", "{petId}"],
  ...[
    "",
    "%",
    "%zz",
    "%2",
    "%2F",
    "%252F",
    "%c0%80",
    "%ff",
    "%ed%a0%80",
    "..",
    "%2e%2e",
    "..%2f..",
    "1;a=b",
    "1,2",
    "１",
    "é",
    "1/",
    "1//",
    "//",
  ],
];
const queryValues = [
  ...["", "0", "1", "-1", "101", "100", "1e1", "01", "%00", "%zz", "%", "%ff", "true", "TRUE", "null", "[]", "a%26b", "+", "%f0%9f%90%95"],
  ...[
    "9223372036854775807",
    "9223372036854775808",
    "available",
    "Sold",
    "name",
    "-name",
    "id",
    "__proto__",
    "W10",
    "W251bGxd",
    "eyJhIjoxfQ",
    "é",
    "x".repeat(3_000),
  ],
];
const queryNames = [
  "__proto__",
  "constructor",
  "id[]",
  "id[0]",
  "limit[a]",
  "Limit",
  "",
  "%zz",
  "%00",
  "a.b",
  "cursor",
  "limit",
  "toString",
];

const headerValues = [
  "",
  "*",
  '"v1"',
  'W/"v1"',
  '"',
  ",",
  ",,,",
  '"v1", "v2"',
  "1",
  "null",
  "__proto__",
  "\xff",
  "\x80\x81",
  "x".repeat(256),
  "x".repeat(5_000),
];
const headerNames = [
  "If-Match",
  "If-None-Match",
  "Idempotency-Key",
  "X-Forwarded-For",
  "X-Request-Id",
  "Origin",
  "Range",
  "Cookie",
  "__proto__",
  "Forwarded",
];
const accepts = [
  "",
  "*/*",
  "text/html",
  "application/*;q=0",
  "application/json;q=abc",
  "application/json;q=0.0001",
  ";;;",
  "a/b,".repeat(500),
  "\xff/\xff",
];
const contentTypes = [
  ...[
    "application/json",
    "application/merge-patch+json",
    "application/json; charset=utf-8",
    "APPLICATION/JSON",
    "application/json;charset=utf-16",
  ],
  ...[
    "text/plain",
    "multipart/form-data; boundary=a",
    "application/x-www-form-urlencoded",
    "",
    ";",
    "application/json;".repeat(100),
    "\xe9",
  ],
];
const authorizations = [
  ...[
    "Bearer",
    "Bearer ",
    "bearer x",
    "Basic dXNlcjpwYXNz",
    "Digest a=b",
    "Bearer a b",
    "Bearer \xff",
    "Bearer null",
    "Bearer psk_",
    "psk_x",
  ],
  ...[`Bearer psk_${"a".repeat(36)}`, `Bearer psk_${"a".repeat(5_000)}`, `Bearer ${"\t".repeat(20)}`, `Bearer psp_${"0".repeat(36)}`],
];

function nested(open: string, close: string, depth: number): string {
  return open.repeat(depth) + (open === "[" ? "" : "1") + close.repeat(depth);
}

/** Any request to an operation; most have a good key, and many a body that is nearly right. */
export function hostileRequest(operation: Operation, key: string): fc.Arbitrary<HostileRequest> {
  return fc.record({
    target: fc.tuple(pathOf(operation), queryOf(operation)).map(([path, query]) => wireSafe(path + query)),
    headers: fc
      .tuple(credentials(key), fc.array(header, { maxLength: 3 }), contentType(operation), rarely(constants(accepts).map(named("Accept"))))
      .map(([credential, some, type, accept]) =>
        [...credential, ...some, ...type, ...accept].map(([name, value]) => [name, wireSafe(value)] as [string, string]),
      ),
    body: operation.requestBody ? often(bodyOf(operation)) : fc.constant(undefined),
    chunked: fc.boolean(),
  });
}

function pathOf({ path }: Operation): fc.Arbitrary<string> {
  const id = fc.oneof(
    { weight: 4, arbitrary: constants(["1", "2", "3"]) },
    { weight: 4, arbitrary: constants(ids) },
    fc.string({ unit: "binary" }),
  );
  return id.map((text) => path.replace(/\{\w+\}/, () => text));
}

function queryOf({ parameters }: Operation): fc.Arbitrary<string> {
  const known = parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
  const name = fc.oneof({ weight: 5, arbitrary: constants([...known, "limit"]) }, { weight: 1, arbitrary: constants(queryNames) });
  const value = fc.oneof(
    { weight: 5, arbitrary: constants(queryValues) },
    fc.string({ unit: "binary" }).map((text) => encodeURIComponent(text.toWellFormed())),
  );
  const pair = fc.tuple(name, value).map((both) => both.join("="));
  const some = fc.array(pair, { minLength: 1, maxLength: 4 }).map((pairs) => `?${pairs.join("&")}`);
  return fc.oneof(
    { weight: known.length > 0 ? 1 : 5, arbitrary: fc.constant("") },
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
    constants(authorizations).map(named("Authorization")),
    constants([...authorizations, key.slice(0, -1)]).map(named("X-API-Key")),
  );
  return fc.oneof(
    { weight: 9, arbitrary: good },
    { weight: 2, arbitrary: bad },
    fc.constant([]),
    fc.tuple(good, bad).map(([a, b]) => [...b, ...a]),
  );
}

const header = fc.tuple(constants(headerNames), fc.oneof(constants(headerValues), fc.string({ unit: "binary", maxLength: 40 })));

function contentType({ requestBody }: Operation): fc.Arbitrary<[string, string][]> {
  const right = constants(Object.keys(requestBody?.content ?? { "application/json": 0 }));
  return fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: constants(contentTypes) }).map(named("Content-Type"));
}

function bodyOf(operation: Operation): fc.Arbitrary<Buffer> {
  const [media] = Object.values(operation.requestBody?.content ?? {});
  const example = media?.example;
  const [sample] = [example].flat() as Record<string, unknown>[];
  const value = fc.oneof(
    { weight: 6, arbitrary: constants(tokens) },
    fc.json({ noUnicodeString: false }),
    fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
  );
  const right = Object.entries(sample ?? {}).map(([name, member]) => [name, JSON.stringify(member)] as const);
  const member = fc.tuple(fc.oneof({ weight: 4, arbitrary: constants(right.map(([name]) => name)) }, constants(keys)), value);
  const object = fc
    .tuple(fc.subarray(right, { minLength: Math.max(0, right.length - 1) }), fc.array(member, { maxLength: 3 }))
    .map(([kept, more]) => `{${[...kept, ...more].map(([name, text]) => `"${name}":${text}`).join(",")}}`);
  const shaped = Array.isArray(example) ? fc.array(object, { maxLength: 5 }).map((items) => `[${items.join(",")}]`) : object;
  const text = fc.oneof({ weight: 12, arbitrary: shaped }, { weight: 3, arbitrary: constants(texts) }, { weight: 1, arbitrary: value });
  const raw = fc.oneof(
    constants(bytes).map((list) => Buffer.from(list)),
    fc.uint8Array({ maxLength: 50 }).map((list) => Buffer.from(list)),
  );
  return fc.oneof({ weight: 12, arbitrary: text.map((whole) => Buffer.from(whole)) }, { weight: 1, arbitrary: raw });
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

/** What would end the line, and so begin another header or request, stays out: the wire's own tricks are tested apart. */
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

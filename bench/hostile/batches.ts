import type { HostileRequest, Target } from "./requests.ts";

const bytesMax = 1_048_576;
const petsMax = 1_000;

/** Requests to `/pets/batch` with up to 1 MiB: some are accepted, some are refused late, and some early. */
export function hostileBatches(key: string): HostileRequest[] {
  const target: Target = {
    name: "POST /v1/pets/batch",
    listener: "api",
    method: "POST",
    path: "/v1/pets/batch",
    queryNames: [],
    sample: [],
    mediaType: "application/json",
    bodyBytesMax: bytesMax,
    headers: [["Authorization", `Bearer ${key}`]],
  };
  const headers: HostileRequest["headers"] = [...target.headers, ["Content-Type", "application/json"]];
  return bodies().map((body) => ({
    target,
    method: "POST",
    url: target.path,
    headers,
    body: Buffer.from(body).subarray(0, bytesMax),
    chunkBytes: undefined,
  }));
}

function bodies(): string[] {
  const pets = (name: string, more = {}) => JSON.stringify(Array.from({ length: petsMax }, () => ({ name, categoryId: 1, ...more })));
  const taken = ["a".repeat(200), "ﷺ".repeat(200), "🐕".repeat(200), `a${"\u0301".repeat(199)}`, "İ".repeat(200), "ﬃ".repeat(200)].map(
    (name) => pets(name),
  );
  const longText = (text: string) => `[{"categoryId":1,"name":"${text.repeat((bytesMax - 60) / Buffer.byteLength(text))}"}]`;
  return [
    ...taken,
    pets("a").replaceAll(":1}", `:1${" ".repeat(1_000)}}`),
    pets("a".repeat(200), { categoryId: 999_999 }),
    pets("a", { status: "x".repeat(900) }),
    pets("a", Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`unknown field number ${i}`, "some value of it"]))),
    pets("\\u0061".repeat(150)).replaceAll("\\\\", "\\"),
    filled("{}", ","),
    filled("0", ","),
    filled('{"name":"a","categoryId":1}', ","),
    filled("[]", ","),
    `[${nested("[", "]")}]`,
    `[${nested('{"a":', "}")}]`,
    `[{${Array.from({ length: 70_000 }, (_, i) => `"a${i}":0`).join(",")}}]`,
    `[{"__proto__":${filled("{}", ",")}}]`,
    longText("a"),
    longText("\\u0061"),
    longText("e\u0301"),
    longText("ﷺ"),
    longText(" "),
    `[${"9".repeat(bytesMax - 2)}]`,
    `[${" ".repeat(bytesMax - 2)}]`,
    `[{"name":"a","categoryId":1}]${" ".repeat(bytesMax - 40)}x`,
    pets("a".repeat(900)),
  ];
}

function filled(item: string, between: string): string {
  return `[${Array.from({ length: Math.floor((bytesMax - 2) / (item.length + 1)) }, () => item).join(between)}]`;
}

function nested(open: string, close: string): string {
  const depth = Math.floor((bytesMax - 10) / (open.length + close.length));
  return open.repeat(depth) + (open === "[" ? "" : "1") + close.repeat(depth);
}

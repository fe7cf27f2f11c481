import type { DescribedOperation } from "./operation.ts";

export type CodeSample = { lang: string; label: string; source: string };

type Request = {
  method: string;
  path: string;
  headers: [string, string][];
  /** Undefined if there is no body. */
  body: unknown;
  file: string | undefined;
  isJson: boolean;
};

/**
 * Programs that send the example request of an operation. They read `BASE_URL` (with the version, as
 * `http://localhost:8080/v1`) and `API_KEY` from the environment.
 */
export function codeSamples(operation: DescribedOperation): CodeSample[] {
  const request = exampleRequest(operation);
  return [
    { lang: "Shell", label: "curl", source: curl(request) },
    { lang: "TypeScript", label: "TypeScript", source: typeScript(request) },
    { lang: "Python", label: "Python", source: python(request) },
    { lang: "Go", label: "Go", source: go(request) },
    { lang: "PHP", label: "PHP", source: php(request) },
  ];
}

/** The example request of an operation, with its path below the base URL. */
function exampleRequest({ method, path, example, body, mediaTypes, upload, answers }: DescribedOperation): Request {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(example?.params?.[name])));
  const values = Object.entries(example?.query ?? {}).flatMap(([name, value]) => [value].flat().map((item) => [name, String(item)]));
  const query = new URLSearchParams(values).toString();
  const mediaType = upload?.mediaTypes[0] ?? (body && (mediaTypes?.[0] ?? "application/json"));
  const headers: Request["headers"] = mediaType ? [["Content-Type", mediaType]] : [];
  return {
    method,
    path: query ? `${filled}?${query}` : filled,
    headers,
    body: body && example?.body,
    file: upload?.sample,
    isJson: method !== "DELETE" && answers[200]?.mediaType === undefined,
  };
}

function curl({ method, path, headers, body, file }: Request): string {
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}"$BASE_URL${path}"`,
    `-H "Authorization: Bearer $API_KEY"`,
    ...headers.map(([name, value]) => `-H "${name}: ${value}"`),
    ...(file === undefined ? [] : [`--data-binary @${file}`]),
    ...(body === undefined ? [] : [`-d '${indented(body, 2).replaceAll("'", String.raw`'\''`)}'`]),
  ];
  return lines.join(" \\\n  ");
}

function typeScript({ method, path, headers, body, file, isJson }: Request): string {
  const given = ["Authorization: `Bearer ${process.env.API_KEY}`", ...headers.map(([name, value]) => `"${name}": "${value}"`)];
  return [
    ...(file === undefined ? [] : [`import { readFile } from "node:fs/promises";`, ""]),
    `const response = await fetch(\`\${process.env.BASE_URL}${path}\`, {`,
    `  method: "${method}",`,
    `  headers: ${entries(given, 2)},`,
    ...(file === undefined ? [] : [`  body: await readFile("${file}"),`]),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(body, 2)}),`]),
    `});`,
    `console.log(response.status, ${isJson ? "await response.json()" : "await response.text()"});`,
  ].join("\n");
}

function python({ method, path, headers, body, file }: Request): string {
  const given = [`"Authorization": f"Bearer {os.environ['API_KEY']}"`, ...headers.map(([name, value]) => `"${name}": "${value}"`)];
  return [
    "import os, requests",
    "",
    `response = requests.request(`,
    `    "${method}",`,
    `    f"{os.environ['BASE_URL']}${path}",`,
    `    headers=${entries(given, 4)},`,
    ...(file === undefined ? [] : [`    data=open("${file}", "rb"),`]),
    ...(body === undefined ? [] : [`    json=${pythonValue(indented(body, 4))},`]),
    `    timeout=10,`,
    `)`,
    `print(response.status_code, response.text)`,
  ].join("\n");
}

/** The lines of Go after a call that may fail. */
const orPanic = ["\tif err != nil {", "\t\tpanic(err)", "\t}"];

function go({ method, path, headers, body, file }: Request): string {
  const text =
    body === undefined ? undefined : `strings.NewReader(\`${JSON.stringify(body, undefined, 2).replaceAll("`", '` + "`" + `')}\`)`;
  const packages = ["fmt", "io", "net/http", "os", ...(text === undefined ? [] : ["strings"])];
  return [
    "package main",
    "",
    ...packages.map((name) => `import "${name}"`),
    "",
    "func main() {",
    ...(file === undefined ? [] : [`\tfile, err := os.Open("${file}")`, ...orPanic, "\tdefer file.Close()"]),
    `\trequest, err := http.NewRequest("${method}", os.Getenv("BASE_URL")+"${path}", ${file === undefined ? (text ?? "nil") : "file"})`,
    ...orPanic,
    `\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))`,
    ...headers.map(([name, value]) => `\trequest.Header.Set("${name}", "${value}")`),
    "\tresponse, err := http.DefaultClient.Do(request)",
    ...orPanic,
    "\tdefer response.Body.Close()",
    "\tanswer, err := io.ReadAll(response.Body)",
    ...orPanic,
    "\tfmt.Println(response.StatusCode, string(answer))",
    "}",
  ].join("\n");
}

function php({ method, path, headers, body, file }: Request): string {
  const content = file === undefined ? body && `<<<'JSON'\n${JSON.stringify(body, undefined, 2)}\nJSON` : `file_get_contents("${file}")`;
  const given = headers.map(([name, value]) => `, "${name}: ${value}"`).join("");
  return [
    "<?php",
    `$context = stream_context_create(["http" => [`,
    `    "method" => "${method}",`,
    `    "header" => ["Authorization: Bearer " . getenv("API_KEY")${given}],`,
    ...(content === undefined ? [] : [`    "content" => ${content as string},`]),
    `    "ignore_errors" => true, // the body of a refusal says why`,
    `    "timeout" => 10,`,
    `]]);`,
    `echo file_get_contents(getenv("BASE_URL") . "${path}", false, $context);`,
  ].join("\n");
}

/** A value as JSON over several lines. All but the first are moved right, to fit into code that is indented by as much. */
function indented(value: unknown, spaces: number): string {
  return JSON.stringify(value, undefined, spaces).replaceAll("\n", `\n${" ".repeat(spaces)}`);
}

/** An object with a line for each entry. */
function entries(given: string[], spaces: number): string {
  const margin = " ".repeat(spaces);
  return `{\n${given.map((entry) => `${margin}${margin}${entry},\n`).join("")}${margin}}`;
}

const pythonWords: Record<string, string> = { true: "True", false: "False", null: "None" };

/** Turns JSON with one value per line into Python: only these words differ. Strings end in a quote, so the pattern skips them. */
function pythonValue(json: string): string {
  return json.replaceAll(/\b(?:true|false|null)(?=,?$)/gm, (word) => pythonWords[word] ?? word);
}

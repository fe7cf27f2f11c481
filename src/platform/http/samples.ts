import type { DescribedOperation } from "./operation.ts";

export type CodeSample = { lang: string; label: string; source: string };

type Request = { method: string; path: string; headers: [string, string][]; body: string | undefined; file: string | undefined };

/**
 * The example request of an operation as programs. They read `BASE_URL` (with the version, as
 * `http://localhost:8080/v1`) and `API_KEY` from the environment.
 */
export function codeSamples(operation: DescribedOperation): CodeSample[] {
  const request = exampleRequest(operation);
  return [
    { lang: "Shell", label: "curl", source: curl(request) },
    { lang: "TypeScript", label: "TypeScript", source: typeScript(request) },
    { lang: "Python", label: "Python", source: python(request) },
  ];
}

/** The example request of an operation, with its path below the base URL. */
function exampleRequest({ method, path, example, body, mediaTypes, upload }: DescribedOperation): Request {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(example?.params?.[name])));
  const values = Object.entries(example?.query ?? {}).flatMap(([name, value]) => [value].flat().map((item) => [name, String(item)]));
  const query = new URLSearchParams(values).toString();
  const mediaType = upload?.mediaType ?? (body && (mediaTypes?.[0] ?? "application/json"));
  const headers: Request["headers"] = mediaType ? [["Content-Type", mediaType]] : [];
  return {
    method,
    path: query ? `${filled}?${query}` : filled,
    headers,
    body: body && JSON.stringify(example?.body),
    file: upload?.sample,
  };
}

function curl({ method, path, headers, body, file }: Request): string {
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}"$BASE_URL${path}"`,
    `-H "Authorization: Bearer $API_KEY"`,
    ...headers.map(([name, value]) => `-H "${name}: ${value}"`),
    ...(file === undefined ? [] : [`--data-binary @${file}`]),
    ...(body === undefined ? [] : [`-d '${body.replaceAll("'", String.raw`'\''`)}'`]),
  ];
  return lines.join(" \\\n  ");
}

function typeScript({ method, path, headers, body, file }: Request): string {
  const given = [["Authorization", "`Bearer ${process.env.API_KEY}`"], ...headers.map(([name, value]) => [`"${name}"`, `"${value}"`])];
  return [
    ...(file === undefined ? [] : [`import { readFile } from "node:fs/promises";`, ""]),
    `const response = await fetch(\`\${process.env.BASE_URL}${path}\`, {`,
    `  method: "${method}",`,
    `  headers: { ${given.map(([name, value]) => `${name}: ${value}`).join(", ")} },`,
    ...(file === undefined ? [] : [`  body: await readFile("${file}"),`]),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${body}),`]),
    `});`,
    `console.log(response.status, ${method === "DELETE" ? "await response.text()" : "await response.json()"});`,
  ].join("\n");
}

function python({ method, path, headers, body, file }: Request): string {
  const given = [["Authorization", `f"Bearer {os.environ['API_KEY']}"`], ...headers.map(([name, value]) => [name, `"${value}"`])];
  return [
    "import os, requests",
    "",
    `response = requests.request(`,
    `    "${method}",`,
    `    f"{os.environ['BASE_URL']}${path}",`,
    `    headers={${given.map(([name, value]) => `"${name}": ${value}`).join(", ")}},`,
    ...(file === undefined ? [] : [`    data=open("${file}", "rb"),`]),
    ...(body === undefined ? [] : [`    data=${pythonText(body)},`]),
    `    timeout=10,`,
    `)`,
    `print(response.status_code, response.text)`,
  ].join("\n");
}

function pythonText(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`;
}

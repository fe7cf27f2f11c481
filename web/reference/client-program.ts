import type { Operation } from "./description.ts";

/**
 * A program for the TypeScript client that sends the example requests of operations, one after another. It reads `BASE_URL` and `API_KEY`
 * from the environment, as the code samples do.
 */
export function clientProgram(operations: Operation[]): string {
  return [
    `import { openClient, refusal } from "petstore-client";`,
    "",
    `const { BASE_URL: url = "", API_KEY: key = "" } = process.env;`,
    "const client = openClient({ url, key });",
    ...operations.flatMap(callOf),
  ].join("\n");
}

function callOf({ id, method, path, parameters, body }: Operation): string[] {
  const name = resultName(id);
  const inPath = parameters.filter((parameter) => parameter.in === "path").map((parameter) => [parameter.name, parameter.example]);
  const example = body[0]?.example;
  const input = {
    ...(inPath.length > 0 && { params: { path: Object.fromEntries(inPath) as Record<string, unknown> } }),
    ...(example !== undefined && { body: example }),
  };
  const given = Object.keys(input).length === 0 ? "" : `, ${literal(input)}`;
  return [
    "",
    `const ${name} = await client.${method}("${path}"${given});`,
    `if (!${name}.data) throw refusal(${name});`,
    `console.log(${name}.data);`,
  ];
}

/** What an operation's result is called: `pet` for `createPet`. */
function resultName(operationId: string): string {
  const noun = operationId.replace(/^[a-z]+/, "");
  return noun.charAt(0).toLowerCase() + noun.slice(1);
}

/** A JSON value as a literal of TypeScript, whose keys need no quotation marks. */
function literal(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replaceAll(/^(\s*)"([a-zA-Z]\w*)":/gm, "$1$2:");
}

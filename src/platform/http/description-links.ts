import type { DescribedOperation } from "./operation.ts";

type Link = { operationId: string; parameters: Record<string, string> };

/**
 * The links (OpenAPI 3.0) from the answer of an operation that creates a resource to the operations on that resource, by operationId: its
 * identifier is in the answer, and the other parameters of the path are those of the request.
 */
export function linksOf(operation: DescribedOperation, operations: readonly DescribedOperation[]): Record<string, Link> {
  const own = namesIn(operation.path);
  const created = operation.method === "PUT" ? own.at(-1) : createdBy(operation, operations);
  if (created === undefined) return {};
  const values = Object.fromEntries(own.map((name) => [name, `$request.path.${name}`]));
  if (operation.method !== "PUT") values[created] = `$response.body#/${isText(operation, created) ? created : "id"}`;
  const reached = operations.filter(({ path, operationId }) => {
    const names = namesIn(path);
    return operationId !== operation.operationId && names.includes(created) && names.every((name) => name in values);
  });
  return Object.fromEntries(
    reached.map(({ operationId, path }) => {
      const parameters = Object.fromEntries(namesIn(path).map((name) => [name, values[name] as string]));
      return [operationId, { operationId, parameters }];
    }),
  );
}

/** The path parameter of the resource that a POST to a list creates. */
function createdBy({ method, path }: DescribedOperation, operations: readonly DescribedOperation[]): string | undefined {
  if (method !== "POST") return undefined;
  const one = operations.find((other) => other.path.startsWith(`${path}/{`) && !other.path.slice(path.length + 1).includes("/"));
  return one && namesIn(one.path).at(-1);
}

/** Whether the answer has the parameter under its own name, as a domain has its `hostname`. */
function isText({ answers }: DescribedOperation, name: string): boolean {
  const { properties = {} } = (answers[201]?.schema ?? {}) as { properties?: object };
  return name in properties;
}

function namesIn(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
}

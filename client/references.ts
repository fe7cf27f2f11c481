type Reference = { readonly $ref: string };

/**
 * Resolves a value of a description: itself, or the component that it refers to (`#/components/…`).
 *
 * @throws Error if the component does not exist
 */
export function resolved<T extends object>(document: object, value: T): Exclude<T, Reference> {
  if (!("$ref" in value) || typeof value.$ref !== "string") return value as Exclude<T, Reference>;
  const steps = value.$ref.replace(/^#\//, "").split("/");
  const found = steps.reduce<unknown>((part, step) => (part as Record<string, unknown> | undefined)?.[step], document);
  if (found === undefined) throw new Error(`the description has no component ${value.$ref}`);
  return resolved(document, found as T);
}

type Reference = { readonly $ref: string };

/**
 * The part of a description that a value stands for: itself, or the component that it refers to (`#/components/…`).
 *
 * @throws Error where there is no such component
 */
export function resolved<T extends object>(document: object, value: T): Exclude<T, Reference> {
  if (!("$ref" in value) || typeof value.$ref !== "string") return value as Exclude<T, Reference>;
  const steps = value.$ref.replace(/^#\//, "").split("/");
  const found = steps.reduce<unknown>((part, step) => (part as Record<string, unknown> | undefined)?.[step], document);
  if (found === undefined) throw new Error(`the description has no component ${value.$ref}`);
  return resolved(document, found as T);
}

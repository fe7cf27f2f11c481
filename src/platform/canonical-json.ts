/** Text that JSON writes as it is. */
const plainText = /^[ !#-[\]-~]*$/;

/**
 * The canonical JSON text of a value (RFC 8785): members sorted by the UTF-16 units of their names, no spaces. Leaves out members that are undefined.
 * Leaves a sorted object without nested ones to `JSON.stringify`, but otherwise writes plain text and numbers itself, because a call of
 * `JSON.stringify` for each takes three times as long.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === "number") return Number.isFinite(value) ? `${value}` : "null";
  if (typeof value === "string") return quoted(value);
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const names = Object.keys(value);
  if (!isSorted(names)) names.sort();
  else if (isFlat(value)) return JSON.stringify(value);
  let text = "";
  for (const name of names) {
    const member = (value as Record<string, unknown>)[name];
    if (member !== undefined) text += `${text === "" ? "{" : ","}${quoted(name)}:${canonicalJson(member)}`;
  }
  return text === "" ? "{}" : `${text}}`;
}

/** A text as JSON writes it. */
export function quoted(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

function isFlat(value: object): boolean {
  for (const name in value) if (typeof (value as Record<string, unknown>)[name] === "object") return false;
  return true;
}

function isSorted(names: readonly string[]): boolean {
  for (let i = 1; i < names.length; i++) if (names[i - 1]! > names[i]!) return false;
  return true;
}

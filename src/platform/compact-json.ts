const lineLengthMax = 140;

/**
 * JSON with an indent of one space, with each object or array on one line if it fits.
 *
 * @param includes whether members of this name are written
 */
export function compactJson(value: unknown, includes: (name: string) => boolean = () => true, indent = ""): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent} `;
  const members = Array.isArray(value)
    ? value.map((item) => compactJson(item, includes, inner))
    : Object.entries(value)
        .filter(([name, member]) => member !== undefined && includes(name))
        .map(([name, member]) => `${JSON.stringify(name)}: ${compactJson(member, includes, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const line = `${open}${members.join(", ")}${close}`;
  if (!line.includes("\n") && line.length + indent.length <= lineLengthMax) return line;
  return `${open}\n${inner}${members.join(`,\n${inner}`)}\n${indent}${close}`;
}

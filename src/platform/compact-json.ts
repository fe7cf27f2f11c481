/** What `compactJson` writes, and how. `space` follows colons and commas; `includes` tells whether members with a name are written. */
type Form = { lineLengthMax: number; space?: " " | ""; includes?: (name: string) => boolean };

/** JSON with an indent of one space, with each object or array on one line if it fits. */
export function compactJson(value: unknown, form: Form, indent = ""): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const { lineLengthMax, space = " ", includes = () => true } = form;
  const inner = `${indent} `;
  const members = Array.isArray(value)
    ? value.map((item) => compactJson(item, form, inner))
    : Object.entries(value)
        .filter(([name, member]) => member !== undefined && includes(name))
        .map(([name, member]) => `${JSON.stringify(name)}:${space}${compactJson(member, form, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const line = `${open}${members.join(`,${space}`)}${close}`;
  if (!line.includes("\n") && line.length + indent.length <= lineLengthMax) return line;
  return `${open}\n${inner}${members.join(`,\n${inner}`)}\n${indent}${close}`;
}

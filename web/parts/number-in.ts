/** Parses a typed number. Anything else becomes NaN, which `jsonOf` sends as a value that the service refuses for this field. */
export function numberIn(text: string): number {
  return text.trim() === "" ? Number.NaN : Number(text);
}

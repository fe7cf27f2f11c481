/** A number as it was typed. Anything else is NaN, which `jsonOf` sends so that the service refuses it and names its field. */
export function numberIn(text: string): number {
  return text.trim() === "" ? Number.NaN : Number(text);
}

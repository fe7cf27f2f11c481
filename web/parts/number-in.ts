/** A number as it was typed; what is none is NaN, which is sent as null and refused at its field. */
export function numberIn(text: string): number {
  return text.trim() === "" ? Number.NaN : Number(text);
}

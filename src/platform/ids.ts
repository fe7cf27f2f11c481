/**
 * A thing by its identifier, as in `animal 12`. Identifiers stay below 2^53, and one beyond was rounded when it was read: its digits,
 * which nobody has sent, are left out.
 */
export function byId(thing: string, id: number): string {
  return Number.isSafeInteger(id) ? `${thing} ${id}` : `${thing} of this id`;
}

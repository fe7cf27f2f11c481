/**
 * Names a thing by its identifier, as in `pet 12`. A number of 2^53 or more was rounded when it was parsed, so its digits are not those
 * that the client sent: they are left out.
 */
export function byId(thing: string, id: number): string {
  return Number.isSafeInteger(id) ? `${thing} ${id}` : `${thing} of this id`;
}

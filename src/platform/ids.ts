/**
 * Names a thing by its id, such as `pet 12`. Leaves out a number of 2^53 or more, because it was rounded when it was parsed, so its
 * digits are not those that the client sent.
 */
export function byId(thing: string, id: number): string {
  return Number.isSafeInteger(id) ? `${thing} ${id}` : `${thing} of this id`;
}

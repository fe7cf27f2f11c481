/** The names of the backups that `--to` makes in a folder or a store: by time, so that they sort by age. */

const ownName = /^petstore-\d{8}T\d{6}Z\.tar\.gz(\.age)?$/;

/** A time as `20261122T143000Z`. */
function compactTime(now: number): string {
  return new Date(now).toISOString().replace(/\.\d+/, "").replaceAll(/[-:]/g, "");
}

/** A time to the millisecond, as `20261122T143000123Z`, for restores, of which two may begin in a second. */
export function preciseTime(now: number): string {
  return new Date(now).toISOString().replaceAll(/[-:.]/g, "");
}

export function backupName(now: number, isEncrypted: boolean): string {
  return `petstore-${compactTime(now)}.tar.gz${isEncrypted ? ".age" : ""}`;
}

/**
 * Returns the backups of this command beyond `keep`: the one just made, and the newest of those before it. Ignores all other names, and those
 * of a time after it, which a clock that was ahead has made.
 */
export function expired(names: readonly string[], made: string, keep: number): string[] {
  const older = names.filter((name) => ownName.test(name) && name < made).toSorted();
  return older.slice(0, Math.max(0, older.length + 1 - keep));
}

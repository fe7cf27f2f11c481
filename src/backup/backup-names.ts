import { timeInName } from "../platform/files.ts";

/** The names of the backups that `--to` makes in a folder or a store: by time, so that they sort by age. */

const ownName = /^petstore-\d{8}T\d{6}Z\.tar\.gz(\.age)?$/;

/** A time to the millisecond, as `20261122T143000123Z`, for restores, because two may begin in the same second. */
export function preciseTime(now: number): string {
  return new Date(now).toISOString().replaceAll(/[-:.]/g, "");
}

export function backupName(now: number, isEncrypted: boolean): string {
  return `petstore-${timeInName(now)}.tar.gz${isEncrypted ? ".age" : ""}`;
}

/**
 * Returns the backups of this command to remove, so that `keep` are left: the one just made, and the newest before it. Ignores all other names,
 * and backups with a later time than the one just made, from when the clock was ahead.
 */
export function expired(names: readonly string[], made: string, keep: number): string[] {
  const older = names.filter((name) => ownName.test(name) && name < made).toSorted();
  return older.slice(0, Math.max(0, older.length + 1 - keep));
}

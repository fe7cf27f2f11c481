import { storageFaultOf } from "../platform/db/sqlite-statements.ts";

/** Errors of the system that concern the disk, and whose messages do not always name a path. */
const diskCodes = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO", "EISDIR", "EEXIST"]);

/** Returns an error whose message names the folder or file in one line, if the error concerns the disk or the database's file; otherwise the error. */
export function withPathNamed(error: unknown, { dataDir, file }: { dataDir: string; file: string }): unknown {
  const { message, cause } = error as Error;
  if (typeof message !== "string" || message.includes(dataDir)) return error;
  const reason = cause instanceof Error ? cause.message : message;
  const fault = storageFaultOf(error);
  if (fault === "damaged") return new Error(`${file} is damaged (${reason}): restore it from a backup`, { cause: error });
  if (fault === "unwritable") return new Error(`${file} cannot be opened or written (${reason})`, { cause: error });
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return diskCodes.has(code) ? new Error(`DATA_DIR=${dataDir} cannot be used (${message})`, { cause: error }) : error;
}
